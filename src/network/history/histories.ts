// Reads the histories that the phone sends to one connection, one after the other, and repeats what fails.

import type { HistoryReception } from '../../core/history/past-events.ts'
import type { InstanceName } from '../../core/ids.ts'
import type { Reception } from '../../core/network/reception.ts'
import { backoffMs } from '../../lib/backoff.ts'
import { sleep } from '../../lib/clock.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import type { Semaphore } from '../../lib/queues/semaphore.ts'
import { historyDaysOf } from '../account/history-days.ts'
import type { AuthenticationCreds, proto } from '../library/library.ts'
import { HistoryError } from './history-error.ts'
import { causeOf, hasHistory, isLast } from './history-kinds.ts'
import type { HistoryRequests } from './history-requests.ts'
import type { ReadHistory } from './read-history.ts'
import type { SlimHistory } from './slim-history.ts'
import { emptyNotification, notificationOf, slimNotification } from './slim-notification.ts'

type Notification = proto.Message.IHistorySyncNotification
type Info = proto.IWebMessageInfo
/** Resolves when the library has acted on the notification. */
type Hand = (info: Info) => Promise<void>

type Deps = {
  receiving: { instance: InstanceName; reception: Partial<Reception & HistoryReception> }
  read: (note: Notification, tell: (slim: SlimHistory) => Promise<void>) => Promise<ReadHistory>
  requests: HistoryRequests
  /** A history that is read waits for it. */
  turn: Pick<Semaphore, 'isFull'>
  creds: AuthenticationCreds
  clock: Clock
  log: Log
  gone: AbortSignal
}

const pauses = { firstMs: 1_000, ceilingMs: 60_000 }
/** The host may have lost a file, or damaged it, only for a moment. */
const mostDamaged = 3
/** About four minutes. The next connection tries again. */
const mostFailures = 10
const passedOver = 'unreadable history'

export class Histories {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Resolves when the library has what it needs, and when the reception has stored the messages or they cannot be read. */
  async read(info: Info, hand: Hand): Promise<void> {
    const note = notificationOf(info)
    if (!note || !hasHistory(note)) return hand(info)
    await this.#announce(info, note, hand)
    let isHanded = false
    const tell = async (slim: SlimHistory | undefined) => {
      if (!isHanded) await hand(slim ? slimNotification(info, slim) : emptyNotification(info))
      isHanded = true
    }
    try {
      const { seen, chats } = await this.#readPatiently(note, tell)
      this.#settle(note, chats, { seen })
    } catch (error) {
      if (!(error instanceof HistoryError)) throw error
      this.#giveUp(error)
      await tell(undefined)
      this.#settle(note, new Set(), { error })
    }
  }

  /**
   * The library reads the app state of a new companion when it gets the first history, and waits 20 s for that. A history that
   * takes longer is announced to it.
   */
  async #announce(info: Info, note: Notification, hand: Hand): Promise<void> {
    const { creds, turn } = this.#deps
    const isReadSoon = note.initialHistBootstrapInlinePayload?.length && !turn.isFull
    if (creds.accountSyncCounter === 0 && !isReadSoon) await hand(emptyNotification(info))
  }

  async #readPatiently(note: Notification, tell: (slim: SlimHistory) => Promise<void>): Promise<ReadHistory> {
    const { read, clock, log, gone, receiving } = this.#deps
    for (let failures = 1; ; failures++) {
      try {
        const done = await read(note, tell)
        const { instance } = receiving
        if (done.dropped > 0)
          log.warn({ instance, parts: done.dropped }, 'parts of a history are too large and left out')
        return done
      } catch (error) {
        gone.throwIfAborted()
        const most = error instanceof HistoryError ? mostDamaged : mostFailures
        if (failures >= most) throw error
      }
      await sleep(clock, backoffMs(failures - 1, pauses), gone)
    }
  }

  #giveUp(error: HistoryError): void {
    const { instance, reception } = this.#deps.receiving
    this.#deps.log.warn({ instance, err: error }, 'history of the phone cannot be read, its messages are left out')
    reception.onPassedOver?.(instance, passedOver)
  }

  #settle(note: Notification, chats: ReadHistory['chats'], outcome: { seen: number } | { error: Error }): void {
    const { receiving, requests, creds } = this.#deps
    const cause = causeOf(note)
    if (cause === 'request') requests.settle({ requestId: note.peerDataRequestSessionId, chats }, outcome)
    if (cause !== 'pairing') return
    const asksForAll = historyDaysOf(creds) !== null
    receiving.reception.onPastProgress?.(receiving.instance, { isLast: isLast(note, asksForAll) })
  }
}
