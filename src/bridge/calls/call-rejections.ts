// Rejects calls of customers, where the instance is set to do so.
//
// 1. A received call rings. Its inbox row is stored already.
// 2. The call is claimed: a process that dies from here on leaves the trace that the call may have been rejected.
// 3. The network is asked to reject the call.
// 4. The rejection is stored, in one commit with the decision whether the caller gets a text (call-texts.ts).
//
// The notice in the conversation waits for the outcome, so that it can say it. A rejection that the network does not confirm
// is not repeated: by then the call rings no more, or the owner has taken it. The commit of step 4 is repeated until it succeeds.

import type { Chat } from '../../core/address.ts'
import type { SettingsOf } from '../../core/chosen-settings.ts'
import type { InstanceName, Jid, NetworkMessageId } from '../../core/ids.ts'
import type { CallEvent, CallOutcome } from '../../core/message.ts'
import type { NetworkSession } from '../../core/network.ts'
import type { ReceivedRow } from '../../core/network/reception.ts'
import type { PerInstance } from '../../core/per-instance.ts'
import type { Clock } from '../../lib/clock.ts'
import { getOrCreate } from '../../lib/keyed.ts'
import type { Log } from '../../lib/log.ts'
import { retryUntil } from '../../lib/retry.ts'
import type { CallRef, RejectedCallStore } from '../../storage/stores/messages/rejected-call-store.ts'

/** How an attempt to reject a call ended. `over`: the call did not ring any more. */
export type RejectionEnd = CallOutcome | 'over'

type Deps = {
  store: Pick<RejectedCallStore, 'claim' | 'unclaim' | 'confirm' | 'outcomeOf'>
  sessionOf: (instance: InstanceName) => Pick<NetworkSession, 'rejectCall'> | undefined
  settingsOf: SettingsOf
  isIgnored: (instance: InstanceName, chat: Chat) => boolean
  /** A caller gets no second text within this time; null: callers get no text at all. */
  textOnceInMs: number | null
  /** Called once for every attempt. The caller of a rejected call may be due a text. Must return quickly. */
  onEnded: (instance: InstanceName, end: RejectionEnd) => void
  clock: Clock
  log: Log
}

type RingingCall = CallEvent & { caller: Jid }

/** The rejections under way of one instance, by the id of the call. `stop` ends the repetition of commits. */
type UnderWay = { calls: Map<NetworkMessageId, Promise<void>>; stop: AbortController }

const storagePauses = { firstMs: 500, ceilingMs: 30_000 }

export class CallRejections implements PerInstance {
  readonly #deps: Deps
  readonly #underWay = new Map<InstanceName, UnderWay>()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Is told about received rows before they are delivered. */
  received(instance: InstanceName, rows: readonly ReceivedRow[]): void {
    for (const { event } of rows) {
      if (event.kind === 'call' && isRinging(event) && this.#isRejected(instance, event)) this.#begin(instance, event)
    }
  }

  /** Undefined for a call that the service did not try to reject. Waits for a rejection that is under way. */
  async outcomeOf(instance: InstanceName, callId: NetworkMessageId): Promise<CallOutcome | undefined> {
    await this.#underWay.get(instance)?.calls.get(callId)
    return this.#deps.store.outcomeOf({ instance, callId })
  }

  /** Waits for the rejections under way. Their connection is closed, so that is soon. */
  async leave(instance: InstanceName): Promise<void> {
    const underWay = this.#underWay.get(instance)
    if (!underWay) return
    underWay.stop.abort()
    await Promise.all(underWay.calls.values())
    this.#underWay.delete(instance)
  }

  /** Ends when no rejection is under way. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const instance of [...this.#underWay.keys()]) await this.leave(instance)
  }

  #isRejected(instance: InstanceName, { chat }: CallEvent): boolean {
    const { settingsOf, isIgnored } = this.#deps
    return settingsOf(instance).rejectCalls && !isIgnored(instance, chat)
  }

  #begin(instance: InstanceName, call: RingingCall): void {
    const { onEnded, log } = this.#deps
    const underWay = getOrCreate(this.#underWay, instance, () => ({ calls: new Map(), stop: new AbortController() }))
    const { calls, stop } = underWay
    const rejection = this.#reject(instance, call, stop.signal)
      .catch((err: unknown): RejectionEnd => {
        log.warn({ err, instance, callId: call.id }, 'a call may not have been rejected')
        return 'unconfirmed'
      })
      .then((end) => {
        onEnded(instance, end)
      })
      .finally(() => {
        calls.delete(call.id)
        if (calls.size === 0 && this.#underWay.get(instance) === underWay) this.#underWay.delete(instance)
      })
    calls.set(call.id, rejection)
  }

  async #reject(
    instance: InstanceName,
    { id: callId, caller, sender, video }: RingingCall,
    stop: AbortSignal,
  ): Promise<RejectionEnd> {
    const { store, sessionOf, clock, log } = this.#deps
    const call = { instance, callId }
    await store.claim(call, sender, clock.now())
    const isRejected = (await sessionOf(instance)?.rejectCall(callId, caller)) ?? false
    if (!isRejected) {
      await store.unclaim(call)
      log.info({ ...call, video, outcome: 'over' }, 'a call was not rejected')
      return 'over'
    }
    log.info({ ...call, video, outcome: 'rejected' }, 'a call was rejected')
    await this.#confirm(call, clock.now(), stop)
    return 'rejected'
  }

  /** A rejection that is not stored is called unconfirmed, and its caller gets no text. So a failed commit is repeated. */
  async #confirm(call: CallRef, at: number, stop: AbortSignal): Promise<void> {
    const { store, textOnceInMs, clock, log } = this.#deps
    const onFailure = (err: unknown) => {
      log.warn({ err, ...call }, 'a rejected call could not be noted yet')
    }
    const confirm = () => store.confirm(call, { at, textOnceInMs })
    // The first try is made even while the instance stops.
    await confirm().catch(async (err: unknown) => {
      onFailure(err)
      await retryUntil({ clock, signal: stop, pauses: storagePauses, onFailure }, confirm)
    })
  }
}

function isRinging(event: CallEvent): event is RingingCall {
  return event.caller !== undefined && !event.missed
}
