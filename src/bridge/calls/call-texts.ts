// Sends the text to the callers of rejected calls. The store says who is due one: at most one text per hour and person.
//
// The outbox takes the text under a key made of the id of the call, so a text that is given to it twice, after a crash or a lost
// answer, is sent once.

import { BridgeError } from '../../core/errors.ts'
import type { ErrorCode } from '../../core/errors.ts'
import type { Chat } from '../../core/address.ts'
import type { InstanceName } from '../../core/ids.ts'
import type { RowScope } from '../../core/nodes/duties.ts'
import { NotHeldError, unlessLost } from '../../core/nodes/hold.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import type { DueText, RejectedCallStore } from '../../storage/stores/messages/rejected-call-store.ts'

/** What became of a text that was given to the outbox. `later`: the outbox did not take it now. */
export type TextAnswer = { kind: 'accepted' | 'later' } | { kind: 'refused'; reason: string }

type TextToCaller = { to: Chat; text: string; key: string }

type Deps = {
  store: Pick<RejectedCallStore, 'dueTexts' | 'settleText' | 'prune'>
  text: string
  send: (instance: InstanceName, text: TextToCaller) => Promise<TextAnswer>
  clock: Clock
  log: Log
}

const hour = 3_600_000
/** No caller gets a second text within this time. */
export const textOnceInMs = hour
/** A caller who waited longer has written or called again. */
const latestMs = hour
const keptMs = 30 * 24 * hour
const batch = 100

/** The instance cannot send, now or later. */
const finalCodes: ReadonlySet<ErrorCode> = new Set(['SERVICE_INSTANCE_NOT_FOUND', 'SERVICE_NOT_READY'])

export class CallTexts {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Gives every due text to the outbox. What the outbox does not take now stays due, and no other text waits for it. */
  async run(scope: RowScope): Promise<void> {
    let last: DueText | undefined
    do {
      const due = await this.#deps.store.dueTexts(batch, scope, last)
      await Promise.all(due.map((text) => unlessLost(this.#settle(text))))
      last = due.at(-1)
    } while (last)
  }

  async prune(): Promise<void> {
    await this.#deps.store.prune(this.#deps.clock.now() - keptMs)
  }

  async #settle(due: DueText): Promise<void> {
    const { store, log } = this.#deps
    const { instance, callId } = due
    const outcome = await this.#give(due)
    if (outcome === 'later') return
    await store.settleText(due, outcome === 'given' ? 'given' : 'dropped')
    if (outcome === 'given') log.info({ instance, callId }, 'the caller of a rejected call gets a text')
    else log.warn({ instance, callId, reason: outcome.dropped }, 'the caller of a rejected call gets no text')
  }

  async #give({ instance, callId, caller, rejectedAt }: DueText): Promise<'given' | 'later' | { dropped: string }> {
    const { send, text, clock, log } = this.#deps
    if (text === '') return { dropped: 'the setting is empty now' }
    if (clock.now() - rejectedAt > latestMs) return { dropped: 'it is too late' }
    try {
      const answer = await send(instance, { to: { kind: 'person', ...caller }, text, key: keyOf(callId) })
      if (answer.kind === 'refused') return { dropped: answer.reason }
      return answer.kind === 'accepted' ? 'given' : 'later'
    } catch (err) {
      if (err instanceof NotHeldError) throw err
      const code = err instanceof BridgeError ? err.code : undefined
      // The text was given to the outbox before, and the setting was changed since.
      if (code === 'SERVICE_KEY_REUSED') return 'given'
      if (err instanceof BridgeError && finalCodes.has(err.code)) return { dropped: err.message }
      log.warn({ err, instance, callId }, 'the text to the caller of a rejected call has to wait')
      return 'later'
    }
  }
}

function keyOf(callId: string): string {
  return `rejected-call:${callId}`.slice(0, 128)
}
