// Auto-assignment: gives waiting conversations of a helpdesk inbox to its members who are online.

import type { ConversationRow, InboxRow, UserRow } from '../state/rows.ts'
import { changeConversation } from './change-conversation.ts'
import type { Desk, HelpdeskEvent } from './desk.ts'

/** Chatwoot runs this job after a new conversation and after a resolved one. */
export function assignAfter(desk: Desk, event: HelpdeskEvent): void {
  if (event.event === 'conversation_created') assignWaiting(desk, event.conversation.inbox)
  const isResolved = event.event === 'conversation_status_changed' && event.conversation.status === 'resolved'
  if (isResolved) assignWaiting(desk, event.conversation.inbox)
}

function assignWaiting(desk: Desk, inbox: InboxRow): void {
  if (!inbox.enableAutoAssignment) return
  const members = desk.state.users.all().filter((user) => user.isOnline && inbox.memberIds.has(user.id))
  if (members.length === 0) return
  desk.later(() => {
    for (const conversation of waitingIn(desk, inbox)) assign(desk, conversation, members)
  })
}

function waitingIn(desk: Desk, inbox: InboxRow): ConversationRow[] {
  const all = desk.state.conversations.all()
  return all.filter((one) => one.inbox === inbox && one.status === 'open' && one.assignee === null)
}

function assign(desk: Desk, conversation: ConversationRow, members: readonly UserRow[]): void {
  const next = members[conversation.id % members.length]
  if (next) changeConversation(desk, conversation, { assignee: next }, 'system')
}
