// Looks for files that could not be fetched in time, for a day, and posts each as a reply to its message.

import { DownstreamError } from '../../core/downstream.ts'
import type { MediaContent } from '../../core/message.ts'
import type { RowScope } from '../../core/nodes/duties.ts'
import { unlessLost } from '../../core/nodes/hold.ts'
import type { HoldOf } from '../../core/nodes/hold.ts'
import { doubledMs } from '../../lib/backoff.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import type { InboxRow, InboxStore, LateFileRow } from '../../storage/stores/messages/inbox-store.ts'
import type { DestinationRouter } from './destination-router.ts'
import type { EarlierMessages } from './earlier-messages.ts'
import type { ExactlyOncePoster } from '../posting/exactly-once-poster.ts'
import type { InboundMetrics } from './inbound-metrics.ts'
import { FileTooLarge } from './files/file-spool.ts'
import type { FileFetcher } from './files/file-fetcher.ts'
import { messageKeyOf } from '../posting/message-key.ts'
import { postJobOf } from '../posting/post-job.ts'
import type { PostJob } from '../posting/post-job.ts'

type Deps = {
  inbox: Pick<InboxStore, 'lateFiles' | 'load' | 'remove' | 'removeStep' | 'noteFailure'>
  earlier: Pick<EarlierMessages, 'originalOf'>
  files: Pick<FileFetcher, 'fetchOnce'>
  poster: Pick<ExactlyOncePoster, 'post' | 'flushed'>
  destinations: Pick<DestinationRouter, 'find'>
  metrics: Pick<InboundMetrics, 'accepted'>
  holdOf: HoldOf
  clock: Clock
  log: Log
}

const giveUpMs = 24 * 3_600_000
/** After 5 minutes, then each time at twice the age: about nine attempts in a day. */
const ages = { firstMs: 5 * 60_000, ceilingMs: giveUpMs }
const pageSize = 50

export class LateFiles {
  readonly #deps: Deps
  readonly #stopping = new AbortController()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Tries every file that is due. */
  async run(scope: RowScope): Promise<void> {
    for (let after = ''; !this.#stopping.signal.aborted;) {
      const rows = await this.#deps.inbox.lateFiles(after, pageSize, scope)
      const due = Map.groupBy(
        rows.filter((row) => this.#isDue(row)),
        ({ instance }) => instance,
      )
      await Promise.all([...due.values()].map((ofOne) => this.#tryAll(ofOne)))
      const last = rows.at(-1)
      if (!last || rows.length < pageSize) return
      after = last.id
    }
  }

  /** One after the other. Other instances do not wait for these files, and a lost instance does not stop them. */
  async #tryAll(rows: readonly LateFileRow[]): Promise<void> {
    for (const row of rows) if (!this.#stopping.signal.aborted) await unlessLost(this.#try(row))
  }

  [Symbol.dispose](): void {
    this.#stopping.abort()
  }

  #isDue({ receivedAt, attempts }: LateFileRow): boolean {
    return this.#deps.clock.now() >= receivedAt + doubledMs(attempts, ages)
  }

  async #try({ id, instance, receivedAt }: LateFileRow): Promise<void> {
    const { inbox, holdOf, clock, log } = this.#deps
    try {
      const [row] = await inbox.load([id])
      if (!row || (await this.#post(row))) return
    } catch (err) {
      log.warn({ err, instance, id }, 'a file that was missing is still not there')
    }
    if (this.#stopping.signal.aborted) return
    if (clock.now() < receivedAt + giveUpMs) await inbox.noteFailure(holdOf(instance), id, 'the file is still missing')
    else {
      log.warn({ instance, id }, 'a missing file was given up')
      await inbox.remove(holdOf(instance), id)
    }
  }

  /** True when nothing is left to do. */
  async #post(row: InboxRow): Promise<boolean> {
    const { inbox, earlier, destinations, log } = this.#deps
    const { instance, event } = row
    const media = event.kind === 'message' && event.content.type === 'media' ? event.content : undefined
    const target = await destinations.find(instance)
    if (!target) return false
    const original = await earlier.originalOf(row, target.destination.key)
    if (!media || original?.conversationId == null || original.messageId === null) {
      log.warn({ instance, id: row.id }, 'a missing file was given up: its message is not at this destination')
      return this.#end(row)
    }
    const { conversationId, messageId, chat: chatId, sender: senderId } = original
    const conversation = { id: conversationId, newest: messageId }
    const type = event.fromMe ? 'outgoing' : 'incoming'
    const endSteps = () => [inbox.removeStep(row.id)]
    const identity = { chatId, senderId, kind: 'file', replyTo: event.id, remember: null, header: null, endSteps }
    return this.#fetchAndPost(row, media, (files) =>
      postJobOf(row, { target, conversation }, { ...identity, type, content: '', isPrivate: false, files }),
    )
  }

  async #fetchAndPost(
    row: InboxRow,
    media: MediaContent,
    jobOf: (files: PostJob['message']['files']) => PostJob,
  ): Promise<boolean> {
    const { files, poster, metrics } = this.#deps
    const { instance, event } = row
    const { signal } = this.#stopping
    try {
      await using file = await files.fetchOnce({ instance, media, key: messageKeyOf(event) }, signal)
      const { outcome } = await poster.post(jobOf([file.upload]), {}, signal)
      // The next run must not find the row again.
      await poster.flushed(instance)
      if (outcome === 'duplicate') return await this.#end(row)
      metrics.accepted(instance)
      return true
    } catch (error) {
      const isOver = error instanceof FileTooLarge || (error instanceof DownstreamError && error.failure === 'gone')
      if (!isOver) throw error
      return this.#end(row)
    }
  }

  async #end({ id, instance }: InboxRow): Promise<true> {
    await this.#deps.inbox.remove(this.#deps.holdOf(instance), id)
    return true
  }
}
