// Creates the content of a fresh installation: an account, the bridge's administrator and one API inbox.

import { createInbox } from './desk/inboxes.ts'
import type { InboxParams } from './desk/inboxes.ts'
import type { Desk } from './desk/desk.ts'
import type { AccountRow, AgentBotRow, InboxRow, Role, UserRow } from './state/rows.ts'

export type NewAgent = { name: string; role?: Role; email?: string; inboxIds?: readonly number[] }

export type Installation = { account: AccountRow; bridge: UserRow; inbox: InboxRow }

export function provision(desk: Desk): Installation {
  const account = addAccount(desk, 'Acme')
  const bridge = addUser(desk, account, { name: 'Causeway', role: 'administrator' })
  const inbox = createInbox(desk, account, { name: 'WhatsApp' })
  return { account, bridge, inbox }
}

export function addAccount(desk: Desk, name: string): AccountRow {
  return desk.state.accounts.insert((id) => ({
    id,
    name,
    suspended: false,
    lastDisplayId: 0,
    createdAt: desk.clock.now(),
  }))
}

/** Without `inboxIds` an agent sees all helpdesk inboxes that exist now. */
export function addUser(desk: Desk, account: AccountRow, newAgent: NewAgent): UserRow {
  const { name, role = 'agent', email, inboxIds } = newAgent
  const user = desk.state.users.insert((id) => ({
    id,
    name,
    email: email ?? `${name.toLowerCase().replace(/[^a-z0-9]+/g, '.')}.${id}@example.com`,
    token: desk.choices.token('user', id),
    memberships: new Map([[account.id, role]]),
    isOnline: false,
  }))
  for (const inbox of desk.state.inboxes.all()) {
    if (inbox.account === account && (inboxIds?.includes(inbox.id) ?? true)) inbox.memberIds.add(user.id)
  }
  return user
}

export type NewBot = { name: string; description?: string | null; outgoingUrl?: string | null }

export function addBot(desk: Desk, account: AccountRow, newBot: NewBot): AgentBotRow {
  const { name, description = null, outgoingUrl = null } = newBot
  return desk.state.agentBots.insert((id) => ({
    id,
    account,
    name,
    description,
    outgoingUrl,
    token: desk.choices.token('bot', id),
    secret: desk.choices.token('bot secret', id),
  }))
}

export function addInbox(desk: Desk, account: AccountRow, params: InboxParams & { name: string }): InboxRow {
  const inbox = createInbox(desk, account, params)
  for (const user of desk.state.users.all()) if (user.memberships.has(account.id)) inbox.memberIds.add(user.id)
  return inbox
}
