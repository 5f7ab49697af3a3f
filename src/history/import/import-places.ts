// Keeps the conversation that gets the messages of a chat: chosen once for each job, marked while messages are posted into it,
// left when a live message comes.

import type { OpenConversation } from '../../bridge/conversations/conversation-memory.ts'
import type { HelpdeskTarget } from '../../bridge/conversations/conversation-opener.ts'
import { DownstreamError } from '../../core/downstream.ts'
import type { HoldOf } from '../../core/nodes/hold.ts'
import type { Clock } from '../../lib/clock.ts'
import type { BridgedStore } from '../../storage/stores/history/bridged-store.ts'
import type { ImportMarks } from '../../storage/stores/history/import-marks.ts'
import type { ImportPlace, ImportStore } from '../../storage/stores/history/import-store.ts'
import type { ImportNotes } from '../posting/import-notes.ts'
import type { ConversationChoice } from './choose-conversation.ts'
import type { ImportPace } from './import-pace.ts'
import type { ChatWork } from './import-work.ts'

type Deps = {
  choice: Pick<ConversationChoice, 'choose'>
  imports: Pick<ImportStore, 'setPlace'>
  bridged: Pick<BridgedStore, 'hasLive'>
  marks: Pick<ImportMarks, 'begin' | 'end'>
  notes: Pick<ImportNotes, 'post'>
  pace: Pick<ImportPace, 'turn'>
  holdOf: HoldOf
  clock: Clock
}

type Placed = { place: ImportPlace; conversation: OpenConversation }

/** Claims of live messages may carry a time that is a little older than our last look. */
const overlapMs = 10_000

export class ImportPlaces {
  readonly #deps: Deps
  /** When we looked for live messages last. */
  readonly #lookedAt = new WeakMap<OpenConversation, number>()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Resolves with the conversation when the next message may be posted into it. Called just before each POST. */
  async enter(work: ChatWork, target: HelpdeskTarget, signal: AbortSignal): Promise<OpenConversation> {
    for (;;) {
      const { place, conversation } = await this.#placeOf(work, target, signal)
      const { destination, conversationId } = place
      await this.#deps.pace.turn({ instance: work.job.instance, destination, conversationId }, signal)
      if (place.target === 'history' || !(await this.#hasNewLive(work, place, conversation))) return conversation
      // What comes now is newer than what is still to be imported.
      await this.showLive(place, target)
      await this.forget(work)
    }
  }

  /** The conversation is gone, or another one is to be chosen. */
  async forget(work: ChatWork): Promise<void> {
    const { imports, marks, holdOf, clock } = this.#deps
    const { instance } = work.job
    const { place } = work.chat
    if (place) await marks.end(holdOf(instance), place, clock.now())
    await imports.setPlace(instance, work.chat, null)
    work.chat.place = null
    work.conversation = undefined
  }

  /** Whether a live message is in the conversation, or is about to be posted there. */
  hasLive(work: ChatWork, place: ImportPlace, since = work.job.createdAt, isBegun = true): Promise<boolean> {
    const { job, chat, contact } = work
    const { destination, conversationId } = place
    const into = { instance: job.instance, chat: contact.chatId, jids: chat.jids, destination, conversationId }
    return this.#deps.bridged.hasLive(into, since, { isBegun })
  }

  /** The conversation has imported messages and a live one: agents see it, and only the live message is unread. */
  async showLive({ target, conversationId }: ImportPlace, { helpdesk }: HelpdeskTarget): Promise<void> {
    if (target !== 'chat') return
    await helpdesk.markSeen(conversationId)
    await helpdesk.markUnread(conversationId)
    await helpdesk.setConversationStatus(conversationId, 'open')
  }

  async #hasNewLive(work: ChatWork, place: ImportPlace, conversation: OpenConversation): Promise<boolean> {
    const lookedAt = this.#lookedAt.get(conversation) ?? 0
    this.#lookedAt.set(conversation, this.#deps.clock.now())
    return this.hasLive(work, place, Math.max(work.job.createdAt, lookedAt - overlapMs), false)
  }

  async #placeOf(work: ChatWork, target: HelpdeskTarget, signal: AbortSignal): Promise<Placed> {
    const { destination } = target
    // The messages go to the helpdesk inbox that the instance has now.
    if (work.chat.place && work.chat.place.destination !== destination.key) await this.forget(work)
    const { place } = work.chat
    if (place && work.conversation) return { place, conversation: work.conversation }
    const placed = place ? await this.#resume(place, target) : await this.#choose(work, target, signal)
    await this.#begin(work, placed, target, signal)
    work.conversation = placed.conversation
    return placed
  }

  /** The conversation that was chosen before a restart. */
  async #resume(place: ImportPlace, { helpdesk }: HelpdeskTarget): Promise<Placed> {
    const found = await helpdesk.findConversation(place.conversationId)
    if (!found) throw new DownstreamError('gone', 'the conversation of the import does not exist any more')
    return { place, conversation: { id: found.id, newest: found.newestMessageId ?? 0 } }
  }

  async #choose(work: ChatWork, target: HelpdeskTarget, signal: AbortSignal): Promise<Placed> {
    const { target: kind, conversation } = await this.#deps.choice.choose(work, target)
    // A stopped import leaves the conversation to the next run, which finds it by its mark.
    signal.throwIfAborted()
    const place = { destination: target.destination.key, conversationId: conversation.id, target: kind }
    await this.#deps.imports.setPlace(work.job.instance, work.chat, place)
    Object.assign(work.chat, { place, opening: null })
    return { place, conversation }
  }

  /** Every step may be made again after a crash. */
  async #begin(
    { job, chat, contact, oldestAt }: ChatWork,
    { place, conversation }: Placed,
    target: HelpdeskTarget,
    signal: AbortSignal,
  ): Promise<void> {
    const { marks, notes, holdOf, clock } = this.#deps
    const { destination, conversationId } = place
    const marked = { destination, conversationId, instance: job.instance, chat: contact.chatId }
    await marks.begin(holdOf(job.instance), marked, { isHistory: place.target === 'history', now: clock.now() })
    signal.throwIfAborted()
    if (place.target === 'open') return
    await notes.post({ instance: job.instance, target, conversation, jobId: chat.jobId, oldestAt }, signal)
  }
}
