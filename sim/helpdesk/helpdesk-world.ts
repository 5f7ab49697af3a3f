// Adds and removes accounts, helpdesk inboxes and people for a test, without the REST interface.

import { addAutomation } from './desk/automation.ts'
import type { InboxParams } from './desk/inboxes.ts'
import type { ConversationRef } from './helpdesk-observer.ts'
import type { Office } from './http/office.ts'
import { addAccount, addBot, addInbox, addUser } from './provision.ts'
import type { NewAgent } from './provision.ts'
import type { AccountRow, InboxRow, Role } from './state/rows.ts'

export type Agent = { id: number; name: string; token: string; role: Role }
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
