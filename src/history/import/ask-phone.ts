// Asks the phone for messages of a chat that are older than the oldest one known.
//
// The message before which the phone is asked is stored first. After a crash the phone is asked for the same messages again,
// so a chat never gets more messages than were asked for.

import { BridgeError } from '../../core/errors.ts'
import type { Anchor } from '../../core/history/past-events.ts'
import type { HistoryJob } from '../../core/jobs/job.ts'
import type { InstanceName } from '../../core/ids.ts'
import type { NetworkSession } from '../../core/network.ts'
import { sleep } from '../../lib/clock.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import type { HistoryStore } from '../../storage/stores/history/history-store.ts'
import type { ImportChat, ImportStore } from '../../storage/stores/history/import-store.ts'
import type { MessageMapStore } from '../../storage/stores/messages/message-map-store.ts'

type Session = Pick<NetworkSession, 'requestHistory'>

export type PhoneDeps = {
  history: Pick<HistoryStore, 'anchorOf'>
  map: Pick<MessageMapStore, 'oldestOf'>
  imports: Pick<ImportStore, 'noteAnchor' | 'begin'>
  /** Undefined while the instance is not connected. */
  sessionOf: (instance: InstanceName) => Session | undefined
  clock: Clock
  log: Log
}

/** `no_anchor`: no message of the chat is known. An error: the phone did not answer. */
export type PhoneAnswer = 'answered' | 'no_anchor' | BridgeError

/** `since`: older messages are not imported. */
type Asking = { job: HistoryJob; since: number }
type Request = Asking & { chat: ImportChat; anchor: Anchor }

/** A phone sends at most so many messages in one answer. */
const mostInAnswer = 50
/** So long an import of many chats waits for the connection. */
const connectMs = 120_000
const lookAgainMs = 1000
/** So often a question is asked when its connections end. */
const mostQuestions = 3

export class PhoneQuestions {
  readonly #deps: PhoneDeps

  constructor(deps: PhoneDeps) {
    this.#deps = deps
  }

  /** Stores the answer in `chat`, too. Rejects when the signal aborts. */
  async ask({ job, since }: Asking, chat: ImportChat, signal: AbortSignal): Promise<PhoneAnswer> {
    const { imports, log } = this.#deps
    const { instance, params } = job
    // Asked before a crash.
    if (chat.state === 'running') return 'answered'
    if (params.count === null) {
      await this.#begin(instance, chat, 0)
      return 'answered'
    }
    const anchor = chat.anchor ?? (await this.#anchorOf(instance, chat))
    if (!anchor) return 'no_anchor'
    if (!chat.anchor) await imports.noteAnchor(instance, chat, anchor)
    chat.anchor = anchor
    try {
      await this.#begin(instance, chat, await this.#request({ job, chat, anchor, since }, signal))
      return 'answered'
    } catch (error) {
      signal.throwIfAborted()
      if (!(error instanceof BridgeError)) throw error
      log.warn({ err: error, instance, job: job.id }, 'the phone sent no history of a chat')
      return error
    }
  }

  async #begin(instance: InstanceName, chat: ImportChat, seen: number): Promise<void> {
    await this.#deps.imports.begin(instance, chat, seen)
    Object.assign(chat, { state: 'running', seen })
  }

  /** Returns how many messages came. A question that is lost with its connection is asked again on the next one. */
  async #request(request: Request, signal: AbortSignal): Promise<number> {
    const { clock, sessionOf } = this.#deps
    const { instance, params } = request.job
    for (let questions = 1; ; questions++) {
      const session = await this.#connected(request.job, signal)
      const lateAt = clock.monotonic() + params.timeoutMs
      try {
        return await this.#answersOf(session, request, signal)
      } catch (error) {
        if (questions === mostQuestions || clock.monotonic() >= lateAt) throw error
        await sleep(clock, lookAgainMs, signal)
        signal.throwIfAborted()
        if (sessionOf(instance) === session) throw error
      }
    }
  }

  /** The service may have started a moment ago, and connections end and come back. */
  async #connected({ type, instance, params }: HistoryJob, signal: AbortSignal): Promise<Session> {
    const { clock, sessionOf } = this.#deps
    const until = clock.monotonic() + (type === 'history_chat' ? params.timeoutMs : connectMs)
    for (;;) {
      const session = sessionOf(instance)
      if (session) return session
      if (clock.monotonic() >= until) throw notConnected()
      await sleep(clock, Math.min(lookAgainMs, until - clock.monotonic()), signal)
      signal.throwIfAborted()
    }
  }

  /** When the phone stops to answer in the middle, what came before is enough. */
  async #answersOf(session: Session, { job, chat, anchor, since }: Request, signal: AbortSignal): Promise<number> {
    const { count, timeoutMs } = job.params
    const late = new AbortController()
    const cancel = this.#deps.clock.after(timeoutMs, () => {
      late.abort()
    })
    const ended = AbortSignal.any([signal, late.signal])
    let seen = 0
    try {
      for (let before: Anchor | null = anchor; before && seen < (count ?? 0);) {
        const wanted = Math.min(mostInAnswer, (count ?? 0) - seen)
        const answer = await session.requestHistory(before, wanted, ended)
        seen += answer.seen
        before = answer.seen < wanted ? null : await this.#olderThan(before, job.instance, chat, since)
      }
    } catch (cause) {
      if (seen === 0 || signal.aborted) throw noAnswer(late.signal.aborted, timeoutMs, cause)
    } finally {
      cancel()
    }
    return seen
  }

  /** The oldest message that has come. Null when that is no older one, or when everything before it is too old. */
  async #olderThan(before: Anchor, instance: InstanceName, { jids }: ImportChat, since: number) {
    const oldest = await this.#deps.history.anchorOf(instance, jids)
    return oldest && oldest.at >= since && oldest.at <= before.at && oldest.key.id !== before.key.id ? oldest : null
  }

  /** The older one of what the phone has sent and of what was bridged live. */
  async #anchorOf(instance: InstanceName, { chat, jids }: ImportChat): Promise<Anchor | null> {
    const { history, map } = this.#deps
    const [kept, live] = await Promise.all([history.anchorOf(instance, jids), map.oldestOf(instance, chat)])
    if (!kept || !live) return kept ?? live
    if (kept.at <= live.at) return kept
    // The phone knows a chat only under one of the two addresses of a person.
    return { ...live, key: { ...live.key, chat: kept.key.chat } }
  }
}

function notConnected(): BridgeError {
  return new BridgeError(
    'SERVICE_NOT_READY',
    'the account is not connected, so the phone cannot be asked for its history',
  )
}

function noAnswer(isLate: boolean, timeoutMs: number, cause: unknown): BridgeError {
  const reason = isLate
    ? `the phone did not answer within ${Math.round(timeoutMs / 1000)} s: open WhatsApp on the phone and try again`
    : 'the phone could not be asked for its history: open WhatsApp on the phone and try again'
  return new BridgeError('SERVICE_NETWORK_FAILED', reason, { cause })
}
