// Reads the messages, conversations and contacts of the simulated database for tests, and waits for them.

import type { Desk } from './desk/desk.ts'
import { seeContact, seeConversation, seeMessage } from './snapshots.ts'
import type { SeenContact, SeenConversation, SeenMessage } from './snapshots.ts'
import type { ConversationRow } from './state/rows.ts'
import type { Watch } from './watch.ts'

/** A display id in the first account, or in the given account. */
export type ConversationRef = number | { accountId: number; id: number }

type Matches<T> = (one: T) => boolean

export class HelpdeskObserver {
  readonly #desk: Desk
  readonly #watch: Watch

  constructor(desk: Desk, watch: Watch) {
    this.#desk = desk
    this.#watch = watch
  }

  /** Oldest first. Without a conversation: the messages of all conversations. */
  messages(conversation?: ConversationRef): SeenMessage[] {
    const rows =
      conversation === undefined ? this.#desk.state.messages.all() : (this.#find(conversation)?.messages ?? [])
    return rows.map(seeMessage)
  }

  /** Counting costs nothing; a list of all messages is a copy of each. */
  get messageCount(): number {
    return this.#desk.state.messages.size
  }

  conversations(matches: Matches<SeenConversation> = () => true): SeenConversation[] {
    return this.#desk.state.conversations.all().map(seeConversation).filter(matches)
  }

  contacts(matches: Matches<SeenContact> = () => true): SeenContact[] {
    return this.#desk.state.contacts.all().map(seeContact).filter(matches)
  }

  /** The listener hears of every change of the database from now on, until the returned function is called. */
  subscribe(listener: () => void): () => void {
    return this.#watch.subscribe(listener)
  }

  waitForMessage(
    conversation: ConversationRef | undefined,
    matches: Matches<SeenMessage>,
    timeoutMs?: number,
    what = 'a message',
  ): Promise<SeenMessage> {
    const where = conversation === undefined ? '' : ` in conversation ${JSON.stringify(conversation)}`
    return this.#watch.until(
      what + where,
      () => this.messages(conversation).find(matches),
      () => listed(this.messages(conversation).map(sayMessage)),
      timeoutMs,
    )
  }

  waitForMessages(
    count: number,
    conversation: ConversationRef | undefined,
    matches: Matches<SeenMessage>,
    timeoutMs?: number,
  ): Promise<SeenMessage[]> {
    const found = () => this.messages(conversation).filter(matches)
    return this.#watch.until(
      `${count} messages`,
      () => (found().length >= count ? found() : undefined),
      () => `${found().length} came; ${listed(this.messages(conversation).map(sayMessage))}`,
      timeoutMs,
    )
  }

  waitForConversation(matches: Matches<SeenConversation>, timeoutMs?: number): Promise<SeenConversation> {
    return this.#watch.until(
      'a conversation',
      () => this.conversations(matches)[0],
      () => listed(this.conversations().map((one) => `${one.id} of ${one.sourceId} ${one.status}`)),
      timeoutMs,
    )
  }

  waitForContact(matches: Matches<SeenContact>, timeoutMs?: number): Promise<SeenContact> {
    return this.#watch.until(
      'a contact',
      () => this.contacts(matches)[0],
      () => listed(this.contacts().map((one) => `${one.id} ${one.name} ${one.identifier ?? one.phoneNumber ?? ''}`)),
      timeoutMs,
    )
  }

  #find(conversation: ConversationRef): ConversationRow | undefined {
    const { accountId, id } = typeof conversation === 'number' ? { accountId: 1, id: conversation } : conversation
    const account = this.#desk.state.accounts.get(accountId)
    return account && this.#desk.state.conversationByDisplayId(account, id)
  }
}

function sayMessage({ id, messageType, status, sourceId, content }: SeenMessage): string {
  return `${id} ${messageType} ${status} ${sourceId ?? '-'} ${JSON.stringify(content?.slice(0, 60))}`
}

function listed(lines: string[]): string {
  return lines.length === 0
    ? 'there is nothing'
    : `there is:\n${lines
        .slice(-8)
        .map((line) => `  ${line}`)
        .join('\n')}`
}
