// Says what of an event is posted: its text, its file, or a notice that the file is missing.

import type { UploadFile } from '../../core/downstream.ts'
import { lateFile } from '../../storage/stores/messages/inbox-store.ts'
import type { InboxRow } from '../../storage/stores/messages/inbox-store.ts'
import type { Log } from '../../lib/log.ts'
import type { EventDraft } from './compose/event-composer.ts'
import type { Texts } from './compose/texts.ts'
import type { DeliveryProgress } from './delivery-progress.ts'
import type { FileFetcher } from './files/file-fetcher.ts'
import { FileTooLarge } from './files/file-spool.ts'
import type { InboundMetrics } from './inbound-metrics.ts'
import { messageKeyOf } from './message-key.ts'

type Deps = {
  files: Pick<FileFetcher, 'fetch'>
  texts: Texts
  mediaMaxBytes: number
  metrics: Pick<InboundMetrics, 'failed'>
  log: Log
}

/** `restKind` is set when the file is still to come: the inbox row lives on under that kind. */
type PostedContent = { content: string; files: readonly UploadFile[]; restKind?: string }

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
    const { texts, mediaMaxBytes } = this.#deps
    const { media, write } = draft
    const { stage, file } = progress
    if (stage === 'notice') return { content: write({ notice: texts.unreadable, instead: true }), files: [] }
    if (!media) return { content: write(), files: [] }
    const what = texts.media[media.media]
    if (stage === 'bare') return { content: write({ notice: texts.fileRefused(what) }), files: [] }
    if (typeof file === 'object') return { content: write(), files: [file.upload] }
    if (file === 'missing') {
      return { content: write({ notice: texts.fileMissing(what) }), files: [], restKind: lateFile }
    }
    return { content: write({ notice: texts.fileTooLarge(what, sizeText(mediaMaxBytes)) }), files: [] }
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

function sizeText(bytes: number): string {
  const kilobytes = Math.floor(bytes / 1024)
  return kilobytes < 1024 ? `${kilobytes} kB` : `${Math.floor(kilobytes / 1024)} MB`
}
