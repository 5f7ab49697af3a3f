// Says what of a message of the history is posted: its text with its file, or with a placeholder for the file.

import type { EventDraft, WrittenText } from '../../bridge/inbound/compose/event-draft.ts'
import { plainToMarkdown } from '../../bridge/inbound/compose/text-to-markdown.ts'
import { textsOf } from '../../bridge/inbound/compose/texts.ts'
import type { FetchedMedia, FileFetcher } from '../../bridge/inbound/files/file-fetcher.ts'
import { FileTooLarge } from '../../bridge/inbound/files/file-spool.ts'
import { sizeText } from '../../bridge/inbound/files/size-text.ts'
import { messageKeyOf } from '../../bridge/posting/message-key.ts'
import type { UploadFile } from '../../core/helpdesk/message.ts'
import type { InstanceName } from '../../core/ids.ts'
import type { MediaContent, NetworkEvent } from '../../core/message.ts'
import type { Locale } from '../../core/reasons/sentences.ts'
import type { Log } from '../../lib/log.ts'
import { beginningOf } from '../../lib/text/beginning-of.ts'
import { pastTextsOf } from './past-texts.ts'

type Deps = {
  files: Pick<FileFetcher, 'fetch'>
  mediaMaxBytes: number
  log: Log
}

/** whole: as it was sent · bare: without the file that was refused · notice: only a sentence that there was a message */
export type PastStage = 'whole' | 'bare' | 'notice'

/** left: the file is not wanted, or there is none. */
export type PastFile = FetchedMedia | 'left' | 'missing' | 'too_large'

const longestName = 200

export class PastContent {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Fetches the file of a message that is new enough. The caller disposes of the file. */
  async fileOf(
    { instance, event, media }: { instance: InstanceName; event: NetworkEvent; media: MediaContent | null },
    since: number | null,
    signal: AbortSignal,
  ): Promise<PastFile> {
    if (!media || since === null || event.at < since) return 'left'
    try {
      return await this.#deps.files.fetch({ instance, media, key: messageKeyOf(event) }, signal)
    } catch (error) {
      if (signal.aborted) throw error
      this.#deps.log.warn({ err: error, instance, media: media.media }, 'a file of the history could not be fetched')
      return error instanceof FileTooLarge ? 'too_large' : 'missing'
    }
  }

  contentOf(
    { write, media, locale }: Pick<EventDraft, 'write' | 'media' | 'locale'>,
    { stage, file, head }: { stage: PastStage; file: PastFile; head: string | null },
  ): WrittenText & { files: readonly UploadFile[] } {
    if (stage === 'notice') {
      return { ...write({ notice: textsOf[locale].unreadable, instead: true, head }), files: [] }
    }
    if (!media) return { ...write({ head }), files: [] }
    if (stage === 'whole' && typeof file === 'object') return { ...write({ head }), files: [file.upload] }
    return { ...write({ notice: this.#placeholder(media, file, locale), head }), files: [] }
  }

  #placeholder({ media, fileName }: MediaContent, file: PastFile, locale: Locale): string {
    const { mediaMaxBytes } = this.#deps
    const [texts, pastTexts] = [textsOf[locale], pastTextsOf[locale]]
    const what = texts.media[media]
    if (file === 'missing') return pastTexts.fileMissing(what)
    if (file === 'too_large') return texts.fileTooLarge(what, sizeText(mediaMaxBytes))
    if (file !== 'left') return texts.fileRefused(what)
    return pastTexts.file(what, fileName === null ? null : plainToMarkdown(beginningOf(fileName, longestName)))
  }
}
