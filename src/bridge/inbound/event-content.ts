// Says what of an event is posted: its text, its file, or a notice that the file is missing.

import type { UploadFile } from '../../core/helpdesk/message.ts'
import type { InboxRow } from '../../storage/stores/messages/inbox-store.ts'
import type { Log } from '../../lib/log.ts'
import type { EventDraft, WrittenText } from './compose/event-draft.ts'
import { textsOf } from './compose/texts.ts'
import type { DeliveryProgress } from './delivery-progress.ts'
import type { FileFetcher } from './files/file-fetcher.ts'
import { FileTooLarge } from './files/file-spool.ts'
import { sizeText } from './files/size-text.ts'
import type { InboundMetrics } from './inbound-metrics.ts'
import { messageKeyOf } from '../posting/message-key.ts'

type Deps = {
  files: Pick<FileFetcher, 'fetch'>
  mediaMaxBytes: number
  metrics: Pick<InboundMetrics, 'failed'>
  log: Log
}

/** `awaitsFile`: the file is still to come, so the inbox row stays. */
type PostedContent = WrittenText & { files: readonly UploadFile[]; awaitsFile?: true }

export class EventContent {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Fetches the file at the first attempt and keeps it in `progress` for the next one. */
  async contentOf(
    row: InboxRow,
    draft: EventDraft,
    progress: DeliveryProgress,
    signal: AbortSignal,
  ): Promise<PostedContent> {
    await this.#fetchFile(row, draft, progress, signal)
    const { mediaMaxBytes } = this.#deps
    const { media, write } = draft
    const texts = textsOf[draft.locale]
    const { stage, file } = progress
    if (stage === 'notice') return { ...write({ notice: texts.unreadable, instead: true }), files: [] }
    if (!media) return { ...write(), files: [] }
    const what = texts.media[media.media]
    if (stage === 'bare') return { ...write({ notice: texts.fileRefused(what) }), files: [] }
    if (typeof file === 'object') return { ...write(), files: [file.upload] }
    if (file === 'missing') {
      return { ...write({ notice: texts.fileMissing(what) }), files: [], awaitsFile: true }
    }
    return { ...write({ notice: texts.fileTooLarge(what, sizeText(mediaMaxBytes)) }), files: [] }
  }

  async #fetchFile(
    { instance, event }: InboxRow,
    { media }: EventDraft,
    progress: DeliveryProgress,
    signal: AbortSignal,
  ): Promise<void> {
    if (!media || progress.file !== undefined || progress.stage !== 'whole') return
    const { files, metrics, log } = this.#deps
    try {
      progress.file = await files.fetch({ instance, media, key: messageKeyOf(event) }, signal)
    } catch (error) {
      if (signal.aborted) throw error
      progress.file = error instanceof FileTooLarge ? 'too_large' : 'missing'
      metrics.failed(instance, 'media')
      log.warn({ err: error, instance, media: media.media }, 'a file could not be fetched')
    }
  }
}
