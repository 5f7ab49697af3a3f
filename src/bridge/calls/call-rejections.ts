// Rejects calls of customers, where the instance is set to do so.
//
// 1. A received call rings. Its inbox row is stored already.
// 2. The call is claimed: a process that dies from here on leaves the trace that the call may have been rejected.
// 3. The network is asked to reject the call.
// 4. The rejection is stored, in one commit with the decision whether the caller gets a text (call-texts.ts).
//
// The notice in the conversation waits for the outcome, so that it can say it. A rejection that the network does not confirm
// is not repeated: by then the call rings no more, or the owner has taken it.

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
import type { RejectedCallStore } from '../../storage/stores/messages/rejected-call-store.ts'

type Deps = {
  store: Pick<RejectedCallStore, 'claim' | 'unclaim' | 'confirm' | 'outcomeOf'>
  sessionOf: (instance: InstanceName) => Pick<NetworkSession, 'rejectCall'> | undefined
  settingsOf: SettingsOf
  isIgnored: (instance: InstanceName, chat: Chat) => boolean
  /** A caller gets no second text within this time; null: callers get no text at all. */
  textOnceInMs: number | null
  /** A call was rejected, and its caller may be due a text. Must return quickly. */
  onRejected: () => void
  clock: Clock
  log: Log
}

type RingingCall = CallEvent & { caller: Jid }

export class CallRejections implements PerInstance {
  readonly #deps: Deps
  /** The rejections under way, by the id of the call. */
  readonly #underWay = new Map<InstanceName, Map<NetworkMessageId, Promise<void>>>()

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
    await this.#underWay.get(instance)?.get(callId)
    return this.#deps.store.outcomeOf({ instance, callId })
  }

  /** Waits for the rejections under way. Their connection is closed, so that is soon. */
  async leave(instance: InstanceName): Promise<void> {
    await Promise.all([...(this.#underWay.get(instance)?.values() ?? [])])
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
    const calls = getOrCreate(this.#underWay, instance, () => new Map<NetworkMessageId, Promise<void>>())
    const rejection = this.#reject(instance, call)
      .catch((err: unknown) => {
        this.#deps.log.warn({ err, instance, call: call.id }, 'a call may not have been rejected')
      })
      .finally(() => {
        calls.delete(call.id)
        if (calls.size === 0 && this.#underWay.get(instance) === calls) this.#underWay.delete(instance)
      })
    calls.set(call.id, rejection)
  }

  async #reject(instance: InstanceName, { id: callId, caller, sender, video }: RingingCall): Promise<void> {
    const { store, sessionOf, textOnceInMs, onRejected, clock, log } = this.#deps
    const call = { instance, callId }
    await store.claim(call, sender, clock.now())
    const isRejected = (await sessionOf(instance)?.rejectCall(callId, caller)) ?? false
    if (!isRejected) {
      await store.unclaim(call)
      log.info({ ...call, video, outcome: 'over' }, 'a call was not rejected')
      return
    }
    await store.confirm(call, { at: clock.now(), textOnceInMs })
    log.info({ ...call, video, outcome: 'rejected' }, 'a call was rejected')
    onRejected()
  }
}

function isRinging(event: CallEvent): event is RingingCall {
  return event.caller !== undefined && !event.missed
}
