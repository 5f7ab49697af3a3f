// Chooses the conversation that gets the history of a chat.
//
// chat     The chat has no conversation with messages: its own conversation, which is created if need be.
// open     Everything to import is newer than the last message of the chat's open conversation, and nothing live was posted
//          there since the account was linked: these are the messages that were missed while it was not linked.
// history  Otherwise a conversation of its own, one for each job and chat. Agents could not reach old messages behind new ones.

import type { Contact } from '../../core/helpdesk/contact.ts'
import type { Conversation } from '../../core/helpdesk/conversation.ts'
import { DownstreamError } from '../../core/downstream.ts'
import type { InstanceName } from '../../core/ids.ts'
import type { OpenConversation } from '../../bridge/conversations/conversation-memory.ts'
import type { ConversationOpener, HelpdeskTarget } from '../../bridge/conversations/conversation-opener.ts'
import type { Clock } from '../../lib/clock.ts'
import type { BridgedStore } from '../../storage/stores/history/bridged-store.ts'
import type { ImportChat, ImportStore, ImportTarget } from '../../storage/stores/history/import-store.ts'
import type { ContactStore } from '../../storage/stores/people/contact-store.ts'
import type { ChatWork } from './import-work.ts'

type Deps = {
  contacts: Pick<ContactStore, 'findConversation'>
  opener: Pick<ConversationOpener, 'openPending' | 'withContact'>
  bridged: Pick<BridgedStore, 'hasLive' | 'newestAt'>
  imports: Pick<ImportStore, 'noteOpening' | 'isAbandoned'>
  /** When the account was linked last; null when that is not known. */
  pairedAtOf: (instance: InstanceName) => number | null
  clock: Clock
  /** How long after a lost answer the helpdesk may still create the conversation. */
  lateCommitMs: number
}

export type Choice = { target: ImportTarget; conversation: OpenConversation }

const lookAgainMs = 2000

export class ConversationChoice {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  async choose(work: ChatWork, target: HelpdeskTarget): Promise<Choice> {
    const found = await this.#current(work, target)
    if (found?.newestMessageId === null) return { target: 'chat', conversation: { id: found.id, newest: 0 } }
    if (found) {
      const isMissed = await this.#isMissed(work, found, target)
      return isMissed ? { target: 'open', conversation: opened(found) } : this.#history(work, target)
    }
    const key = { instance: work.job.instance, chat: work.contact.chatId, destination: target.destination.key }
    const made = await this.#deps.opener.openPending(
      key,
      await work.contact.describe(),
      markOf(work.chat, 'chat'),
      target,
    )
    if (!made) return this.#history(work, target)
    return { target: 'chat', conversation: { id: made.known.conversationId, newest: made.newest } }
  }

  /** The conversation of the chat that we know; null when there is none. */
  async #current({ job, contact }: ChatWork, { destination, helpdesk }: HelpdeskTarget): Promise<Conversation | null> {
    const key = { instance: job.instance, chat: contact.chatId, destination: destination.key }
    const known = await this.#deps.contacts.findConversation(key)
    const found = known ? await helpdesk.findConversation(known.conversationId) : null
    return found?.inboxId === destination.inboxId ? found : null
  }

  /** Whether the messages were missed between a logout and the linking of the account. */
  async #isMissed(work: ChatWork, found: Conversation, { destination }: HelpdeskTarget): Promise<boolean> {
    const { bridged, imports, pairedAtOf } = this.#deps
    const { job, chat, contact, oldestAt } = work
    const pairedAt = pairedAtOf(job.instance)
    if (found.status === 'resolved' || pairedAt === null) return false
    const into = {
      ...{ instance: job.instance, chat: contact.chatId, jids: chat.jids },
      ...{ destination: destination.key, conversationId: found.id },
    }
    const newestAt = (await bridged.newestAt(into)) ?? found.callbackSign?.at ?? Infinity
    if (oldestAt <= newestAt || (await bridged.hasLive(into, pairedAt, { isBegun: true }))) return false
    // A job that was cancelled a moment ago is about to resolve the conversation.
    return !(await imports.isAbandoned(job.instance, into))
  }

  async #history(work: ChatWork, target: HelpdeskTarget): Promise<Choice> {
    const spec = await work.contact.describe()
    const made = await this.#deps.opener.withContact(spec, target, (contact) => this.#createFor(work, contact, target))
    return { target: 'history', conversation: opened(made) }
  }

  async #createFor(work: ChatWork, contact: Contact, target: HelpdeskTarget): Promise<Conversation> {
    const made = await this.#create(work, contact, target)
    if (made.isOwn) return made
    // The helpdesk inbox is locked to one conversation for each address of a contact, so the history gets an address.
    const apart = { ...contact, sourceId: `${contact.sourceId}-history-${work.chat.jobId}` }
    return this.#create(work, apart, target)
  }

  async #create(work: ChatWork, contact: Contact, { destination, helpdesk }: HelpdeskTarget) {
    const { clock } = this.#deps
    const { chat } = work
    const creation = { isBegun: false }
    const beforeCreation = async () => {
      this.#refuseWhileUncertain(chat, destination.key)
      await this.#noteOpening(work, { destination: destination.key, since: clock.now() })
      creation.isBegun = true
    }
    try {
      const made = await helpdesk.createPending({
        ...{ contact, mark: markOf(chat, 'history'), isHistory: true, beforeCreation },
      })
      // A locked helpdesk inbox gave back another conversation, so the next creation need not wait.
      if (!made.isOwn) await this.#noteOpening(work, null)
      return made
    } catch (error) {
      const mayHaveHappened = error instanceof DownstreamError && error.mayHaveHappened
      if (creation.isBegun && !mayHaveHappened) await this.#noteOpening(work, null)
      throw error
    }
  }

  async #noteOpening({ job, chat }: ChatWork, opening: ImportChat['opening']): Promise<void> {
    await this.#deps.imports.noteOpening(job.instance, chat, opening)
    chat.opening = opening
  }

  /** A creation whose answer was lost: its conversation may still appear, and is found by its mark then. */
  #refuseWhileUncertain({ opening }: ImportChat, destination: string): void {
    const { clock, lateCommitMs } = this.#deps
    const passedMs = opening?.destination === destination ? clock.now() - opening.since : Infinity
    // A time in the future was written before the clock was set back.
    if (passedMs < 0 || passedMs >= lateCommitMs) return
    const reason = 'a History conversation was being created a moment ago: looking for it before creating another one'
    throw new DownstreamError('transient', reason, { retryAfterMs: lookAgainMs })
  }
}

/** Names the conversation at the helpdesk. A job may make both kinds for a chat. */
function markOf({ jobId, chat }: ImportChat, kind: 'chat' | 'history'): string {
  return `${jobId}|${chat}|${kind}`
}

function opened({ id, newestMessageId }: Conversation): OpenConversation {
  return { id, newest: newestMessageId ?? 0 }
}
