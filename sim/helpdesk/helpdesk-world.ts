// Adds and removes accounts, helpdesk inboxes and people for a test, without the REST interface.

import { addAutomation } from './desk/automation.ts'
import { buildContactInbox } from './desk/contact-inboxes.ts'
import { createContact } from './desk/contacts.ts'
import { createConversation } from './desk/conversations.ts'
import { createMessage } from './desk/create-message.ts'
import type { MessageParams } from './desk/create-message.ts'
import type { InboxParams } from './desk/inboxes.ts'
import { crashed } from './desk/rails-error.ts'
import type { ContactParams } from './desk/validate-contact.ts'
import type { ConversationRef } from './helpdesk-observer.ts'
import type { Office } from './http/office.ts'
import { addAccount, addBot, addInbox, addUser } from './provision.ts'
import type { NewAgent } from './provision.ts'
import type { AccountRow, ContactRow, ConversationStatus, InboxRow, Role } from './state/rows.ts'

export type Agent = { id: number; name: string; token: string; role: Role }
export type NewConversation = { contactId: number; sourceId?: string; status?: ConversationStatus; inboxId?: number }
/** `at` is the time that the message has in the database. */
export type NewMessage = Omit<MessageParams, 'readStatus' | 'begun'> & { at?: number; authorId?: number }
export type Inbox = { id: number; accountId: number; identifier: string; secret: string }

export class HelpdeskWorld {
  readonly #office: Pick<Office, 'desk' | 'agentTokens'>

  constructor(office: Pick<Office, 'desk' | 'agentTokens'>) {
    this.#office = office
  }

  /** Adds an account with an administrator for the bridge. */
  addAccount(name: string): { id: number; token: string } {
    const { desk } = this.#office
    const account = addAccount(desk, name)
    return { id: account.id, token: addUser(desk, account, { name: 'Causeway', role: 'administrator' }).token }
  }

  addInbox(params: InboxParams & { name: string; accountId?: number }): Inbox {
    const { accountId, ...rest } = params
    return toInbox(addInbox(this.#office.desk, this.#account(accountId), rest))
  }

  /** Adds a person with a token of their own. Faults spare this person unless they have `strikesAgents`. */
  addAgent({ accountId, ...agent }: NewAgent & { accountId?: number }): Agent {
    const { desk, agentTokens } = this.#office
    const user = addUser(desk, this.#account(accountId), agent)
    agentTokens.add(user.token)
    return { id: user.id, name: user.name, token: user.token, role: agent.role ?? 'agent' }
  }

  addBot(name: string, accountId?: number): { id: number; token: string } {
    const { id, token } = addBot(this.#office.desk, this.#account(accountId), { name })
    return { id, token }
  }

  /** Adds a bot to a helpdesk inbox. The bot is called at this address. */
  connectBot(name: string, outgoingUrl: string, inboxId = 1): { id: number; token: string; secret: string } {
    const { desk } = this.#office
    const inbox = desk.state.inboxes.get(inboxId)
    if (!inbox) throw new Error(`there is no inbox ${inboxId}`)
    inbox.agentBot = addBot(desk, inbox.account, { name, outgoingUrl })
    const { id, token, secret } = inbox.agentBot
    return { id, token, secret }
  }

  /** A person who is online gets conversations assigned in helpdesk inboxes with auto-assignment. */
  setOnline(userId: number, isOnline: boolean): void {
    const user = this.#office.desk.state.users.get(userId)
    if (!user) throw new Error(`there is no user ${userId}`)
    user.isOnline = isOnline
  }

  /** Adds an automation rule that answers every incoming message of the helpdesk inbox with this text. */
  addAutomation(content: string, inboxId = 1): { id: number } {
    const { desk } = this.#office
    const inbox = desk.state.inboxes.get(inboxId)
    if (!inbox) throw new Error(`there is no inbox ${inboxId}`)
    return { id: addAutomation(desk, inbox, content).id }
  }

  /** Adds a contact with an address in the helpdesk inbox. Without `sourceId` the address is random, as Chatwoot makes it. */
  addContact(params: ContactParams & { sourceId?: string; inboxId?: number }): { id: number; sourceId: string } {
    const { sourceId, inboxId = 1, ...contact } = params
    const { desk } = this.#office
    const inbox = this.#inbox(inboxId)
    const created = createContact(desk, inbox.account, contact, { inbox, sourceId })
    return { id: created.contact.id, sourceId: created.contactInbox?.sourceId ?? '' }
  }

  /** Adds a conversation; its display id. Without `sourceId` it has the first address of the contact in the helpdesk inbox. */
  addConversation({ contactId, sourceId, status = 'open', inboxId = 1 }: NewConversation): number {
    const { desk } = this.#office
    const inbox = this.#inbox(inboxId)
    const contact = this.#contact(contactId)
    const known = contact.contactInboxes.find((one) => one.inbox === inbox)
    const wanted = { contact, inbox, sourceId, taken: crashed }
    const address = sourceId === undefined && known ? known : buildContactInbox(desk, wanted)
    return createConversation(desk, address, { status }).displayId
  }

  /** Adds a message; its id. The author of an outgoing message is the bridge, unless another user is given. */
  addMessage(conversation: number, { at, authorId = 1, ...params }: NewMessage): number {
    const { desk } = this.#office
    const row = desk.state.conversationByDisplayId(this.#account(), conversation)
    const user = desk.state.users.get(authorId)
    if (!row || !user) throw new Error(`there is no conversation ${conversation} or no user ${authorId}`)
    const { status } = row
    const { id } = createMessage(desk, row, { type: 'User', user }, params)
    if (at !== undefined) this.backdate(id, at)
    // The conversation keeps its status: other messages come before the moment in which it was resolved.
    row.status = status
    return id
  }

  suspendAccount(isSuspended: boolean, accountId?: number): void {
    this.#account(accountId).suspended = isSuspended
  }

  deleteConversation(conversation: ConversationRef): void {
    const { accountId, id } = typeof conversation === 'number' ? { accountId: 1, id: conversation } : conversation
    const { state } = this.#office.desk
    const row = state.conversationByDisplayId(this.#account(accountId), id)
    if (row) state.removeConversation(row)
  }

  /** Has the effect of an UPDATE of messages.created_at in the database. */
  backdate(messageId: number, at: number): void {
    const message = this.#office.desk.state.messages.get(messageId)
    if (message) message.createdAt = at
  }

  #inbox(id: number): InboxRow {
    const inbox = this.#office.desk.state.inboxes.get(id)
    if (!inbox) throw new Error(`there is no inbox ${id}`)
    return inbox
  }

  #contact(id: number): ContactRow {
    const contact = this.#office.desk.state.contacts.get(id)
    if (!contact) throw new Error(`there is no contact ${id}`)
    return contact
  }

  /** The default is the account of a fresh installation. */
  #account(id = 1): AccountRow {
    const account = this.#office.desk.state.accounts.get(id)
    if (!account) throw new Error(`there is no account ${id}`)
    return account
  }
}

export function toInbox({ id, account, channel }: InboxRow): Inbox {
  return { id, accountId: account.id, identifier: channel.identifier, secret: channel.secret }
}
