// Files that could not be fetched in time: looked for now and then for a day, and posted as a reply to their message.

import { DownstreamError } from '../../core/downstream.ts'
import type { Destination, Downstream } from '../../core/downstream.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import type { InboxRow, InboxStore } from '../../storage/stores/messages/inbox-store.ts'
import type { MappedMessage, MessageMapStore } from '../../storage/stores/messages/message-map-store.ts'
import type { ExactlyOncePoster } from './exactly-once-poster.ts'
import type { InboundMetrics } from './inbound-metrics.ts'
import { FileTooLarge } from './files/file-spool.ts'
import type { FileFetcher } from './files/file-fetcher.ts'
import { messageKeyOf } from './message-key.ts'

type Deps = {
  inbox: Pick<InboxStore, 'lateFiles' | 'remove' | 'noteFailure'>
  map: Pick<MessageMapStore, 'findByNetworkId'>
  files: FileFetcher
  poster: ExactlyOncePoster
  downstream: Pick<Downstream, 'helpdesk'>
  route: (instance: string) => Promise<Destination | null>
  report: InboundMetrics
  epoch: () => number
  clock: Clock
  log: Log
}

const firstMs = 5 * 60_000
const giveUpMs = 24 * 3_600_000
const pageSize = 50

export class LateFiles {
  readonly #deps: Deps
  readonly #stopping = new AbortController()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** One look at everything that is due. */
  async run(): Promise<void> {
    for (let after = ''; !this.#stopping.signal.aborted;) {
      const rows = await this.#deps.inbox.lateFiles(after, pageSize)
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

  /** One after the other; other instances do not wait for them. */
  async #tryAll(rows: readonly InboxRow[]): Promise<void> {
    for (const row of rows) if (!this.#stopping.signal.aborted) await this.#try(row)
  }

  [Symbol.dispose](): void {
    this.#stopping.abort()
  }

  /** After 5 minutes, then at twice the age each time: about nine looks in a day. */
  #isDue({ receivedAt, attempts }: InboxRow): boolean {
    return this.#deps.clock.now() >= receivedAt + Math.min(giveUpMs, firstMs * 2 ** attempts)
  }

  async #try(row: InboxRow): Promise<void> {
    const { inbox, epoch, clock, log } = this.#deps
    const { instance, id } = row
    try {
      if (await this.#post(row)) return
    } catch (err) {
      log.warn({ err, instance }, 'a file that was missing is still not there')
    }
    if (this.#stopping.signal.aborted) return
    if (clock.now() < row.receivedAt + giveUpMs) await inbox.noteFailure(epoch(), id, 'the file is still missing')
    else {
      log.warn({ instance, id }, 'a missing file was given up')
      await inbox.remove(epoch(), id)
    }
  }

  /** True when there is nothing left to do. */
  async #post(row: InboxRow): Promise<boolean> {
    const { instance, event } = row
    const { map, route, inbox, epoch, log } = this.#deps
    const media = event.kind === 'message' && event.content.type === 'media' ? event.content : undefined
    const destination = await route(instance)
    if (!destination) return false
    const known = await map.findByNetworkId(instance, [event.id])
    // Others may have used the same id.
    const { chat, participant } = messageKeyOf(event)
    const original = known.find(
      ({ kind, destination: at, networkKey }) =>
        kind === 'message' &&
        at === destination.key &&
        networkKey.chat === chat &&
        networkKey.participant === participant,
    )
    if (!media || original?.conversationId == null || original.messageId === null) {
      log.warn({ instance, id: row.id }, 'a missing file was given up: its message is not at this destination')
      await inbox.remove(epoch(), row.id)
      return true
    }
    const conversation = { id: original.conversationId, newest: original.messageId }
    return this.#fetchAndPost(row, { media, destination, original, conversation })
  }

  async #fetchAndPost(
    row: InboxRow,
    found: {
      media: Parameters<FileFetcher['fetchOnce']>[0]['media']
      destination: Destination
      original: MappedMessage
      conversation: { id: number; newest: number }
    },
  ): Promise<boolean> {
    const { files, poster, downstream, report, inbox, epoch } = this.#deps
    const { media, destination, original, conversation } = found
    const { signal } = this.#stopping
    const key = messageKeyOf(row.event)
    try {
      await using file = await files.fetchOnce({ instance: row.instance, media, key }, signal)
      const { instance, chat, sender, networkId } = original
      const { outcome } = await poster.post(
        {
          identity: { instance, destination: destination.key, chat, sender, networkId, kind: 'file' },
          direction: row.event.fromMe ? 'echo' : 'in',
          networkKey: key,
          networkAt: row.event.at,
          remember: null,
          helpdesk: downstream.helpdesk(destination),
          conversation,
          replyTo: networkId,
          message: {
            type: row.event.fromMe ? 'outgoing' : 'incoming',
            content: '',
            isEcho: row.event.fromMe,
            private: false,
            files: [file.upload],
          },
          rowId: row.id,
        },
        {},
        signal,
      )
      if (outcome === 'posted') report.accepted(instance)
      else await inbox.remove(epoch(), row.id)
      // The next look must not find it again.
      await poster.flushed(instance)
      return true
    } catch (error) {
      const isOver = error instanceof FileTooLarge || (error instanceof DownstreamError && error.failure === 'gone')
      if (!isOver) throw error
      await inbox.remove(epoch(), row.id)
      return true
    }
  }
}
