// Tests whether the callbacks of a helpdesk inbox reach the service.
//
// 1. The operations contact of the instance types in its conversation. Chatwoot announces that with a callback, and the
//    typing leaves no trace for agents.
// 2. If no callback comes within 5 s, a note is posted there. When Chatwoot cannot deliver the callback of the note, it marks
//    the note as failed and says why.

import { randomUUID } from 'node:crypto'
import type { LostCallbacks } from '../../bridge/conversations/lost-callbacks.ts'
import { DownstreamError } from '../../core/downstream.ts'
import type { Destination, Downstream, HelpdeskInbox } from '../../core/downstream.ts'
import type { InstanceName } from '../../core/ids.ts'
import { announcesTyping } from '../../downstream/versions.ts'
import type { Clock } from '../../lib/clock.ts'
import { ignoreRejection } from '../../lib/ignore.ts'
import type { NoticeTexts } from '../../lifecycle/notice-texts.ts'
import { conversationOf } from '../../lifecycle/operations-contact-inbox.ts'
import type { Routing } from '../../tenants/routing.ts'
import type { CallbackFaults } from './callback-faults.ts'
import type { CheckedInstance } from './destination-checks.ts'
import { advised, broken, fine, untested } from './finding.ts'
import type { Finding } from './finding.ts'

type Deps = {
  routing: Pick<Routing, 'identifiedOf'>
  downstream: Pick<Downstream, 'helpdesk'>
  callbacks: Pick<LostCallbacks, 'next' | 'hasHeardSince' | 'noteSign'>
  faults: Pick<CallbackFaults, 'explain'>
  textsOf: (instance: InstanceName) => Pick<NoticeTexts, 'name' | 'test'>
  clock: Clock
}

/** `since` is when the test began. */
type Tested = {
  instance: string
  destination: Destination
  inbox: HelpdeskInbox
  conversationId: number
  since: number
}

const name = 'round_trip'
const patienceMs = 5000
/** Chatwoot waits 5 s for a connection and 5 s for an answer before it marks a message as failed. */
const failureMs = 12_000
const lookEveryMs = 500

export class RoundTrip {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  async run(instance: CheckedInstance, version: string, signal: AbortSignal): Promise<Finding> {
    if (!announcesTyping(version)) {
      return untested(name, `Chatwoot ${version} sends no callback when a contact types; 4.2 is the first that does`)
    }
    try {
      return await this.#test(instance, signal)
    } catch (error) {
      if (!(error instanceof DownstreamError)) throw error
      return broken(
        name,
        `the test could not be made: ${error.message}`,
        'look into the log of Chatwoot, and repeat the check',
      )
    }
  }

  async #test(instance: CheckedInstance, signal: AbortSignal): Promise<Finding> {
    const { routing, downstream, callbacks, textsOf, clock } = this.#deps
    const destination = await routing.identifiedOf(instance)
    if (!destination) return untested(name, 'no helpdesk inbox is configured')
    const inbox = downstream.helpdesk(destination)
    const contact = { instance: instance.name, contactName: textsOf(instance.name).name(instance.name) }
    const { id: conversationId, sourceId } = await conversationOf(inbox, contact)
    const [startedAt, since] = [clock.monotonic(), clock.now()]
    const over = new AbortController()
    const heard = callbacks.next(destination.key, patienceMs, AbortSignal.any([signal, over.signal]))
    try {
      await inbox.setTyping({ conversationId, sourceId }, true)
      const isHeard = await heard
      if (signal.aborted) return untested(name, 'the service stops')
      const tested = { instance: instance.name, destination, inbox, conversationId, since }
      if (!isHeard) return await this.#explain(tested, signal)
      // Chatwoot ends the typing by itself after a while.
      await inbox.setTyping({ conversationId, sourceId }, false).catch(ignoreRejection)
      return fine(name, `a callback of Chatwoot came back after ${Math.round(clock.monotonic() - startedAt)} ms`)
    } finally {
      over.abort()
    }
  }

  /** No callback came in time. Chatwoot says why. */
  async #explain(tested: Tested, signal: AbortSignal): Promise<Finding> {
    const { callbacks, faults, textsOf, clock } = this.#deps
    const { instance, destination, inbox, conversationId, since } = tested
    const note = { type: 'outgoing', private: true, inReplyTo: null, isEcho: false, files: [] } as const
    await inbox.post(conversationId, { ...note, content: textsOf(instance).test, sourceId: randomUUID() })
    const until = clock.monotonic() + failureMs
    while (clock.monotonic() < until && !signal.aborted) {
      await callbacks.next(destination.key, lookEveryMs, signal)
      // A callback may also have come during a request.
      if (callbacks.hasHeardSince(destination.key, since)) {
        const cure = 'give the background workers of Chatwoot (Sidekiq) more capacity'
        return advised(name, `the callbacks of Chatwoot arrive, but later than after ${patienceMs / 1000} s`, cure)
      }
      const sign = (await inbox.findConversation(conversationId))?.callbackSign
      const fault = sign?.failure && faults.explain(instance, sign.failure)
      if (!fault) continue
      callbacks.noteSign(destination, sign)
      return fault
    }
    const cure = 'check whether the background workers of Chatwoot (Sidekiq) run, and look into their log'
    return broken(name, 'Chatwoot sends no callback, and does not say why', cure)
  }
}
