// Composes a message of the history as a live one is composed.

import type { EventContext, EventContexts } from '../../bridge/conversations/event-context.ts'
import type { EventComposer } from '../../bridge/inbound/compose/event-composer.ts'
import type { EventDraft } from '../../bridge/inbound/compose/event-draft.ts'
import type { People } from '../../bridge/people/people.ts'
import type { ExactlyOncePoster } from '../../bridge/posting/exactly-once-poster.ts'
import type { InstanceName } from '../../core/ids.ts'
import type { NetworkEvent } from '../../core/message.ts'

type Deps = {
  people: Pick<People, 'lookUp'>
  contexts: Pick<EventContexts, 'contextOf'>
  composer: Pick<EventComposer, 'compose'>
  poster: Pick<ExactlyOncePoster, 'flushed'>
}

/** `draft` is null when agents are not shown such an event. */
export type PastDraft = { context: EventContext; draft: EventDraft | null }

export class PastDrafts {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  async draftOf(instance: InstanceName, event: NetworkEvent): Promise<PastDraft> {
    const { contexts, composer, poster } = this.#deps
    const context = await contexts.contextOf(instance, await this.#withoutOldName(instance, event), null)
    // A sealed event is opened with what the message map knows of the message that the event is about.
    if ('target' in event) await poster.flushed(instance)
    // Each message names its sender: live messages of the same chat may come in between.
    const draft = await composer.compose({ instance, event, receivedAt: event.at, context, showsHeader: true })
    return { context, draft: 'skipped' in draft ? null : draft }
  }

  /** The name in an old message must not replace the name that the person has now. */
  async #withoutOldName(instance: InstanceName, event: NetworkEvent): Promise<NetworkEvent> {
    if (event.pushName === null || event.fromMe) return event
    const known = await this.#deps.people.lookUp(instance, event.sender)
    return known?.pushName == null ? event : { ...event, pushName: null }
  }
}
