// Finds the row that a path names, or answers 404, or 401 when the policy refuses.

import type { FastifyRequest } from 'fastify'
import { notFound, refusedByPolicy } from '../desk/rails-error.ts'
import type { ContactRow, ConversationRow, InboxRow, MessageRow, UserRow } from '../state/rows.ts'
import { maySee } from './authenticate.ts'
import type { Office } from './office.ts'
import { callerOf } from './request-notes.ts'

export function findInbox(office: Office, request: FastifyRequest, id: number | string | undefined): InboxRow {
  const inbox = findAnyInbox(office, request, id)
  if (!maySee(callerOf(request), inbox)) throw refusedByPolicy()
  return inbox
}

/** Some endpoints ask no policy, so an agent may name a helpdesk inbox of which the agent is no member. */
export function findAnyInbox(office: Office, request: FastifyRequest, id: number | string | undefined): InboxRow {
  const inbox = office.desk.state.inboxes.get(Number(id))
  if (inbox?.account !== callerOf(request).account || office.faults.hides(inbox)) throw notFound()
  return inbox
}

export function findContact({ desk }: Office, request: FastifyRequest, id: number | string): ContactRow {
  const contact = desk.state.contacts.get(Number(id))
  if (contact?.account !== callerOf(request).account) throw notFound()
  return contact
}

export function findConversation(office: Office, request: FastifyRequest, displayId: string): ConversationRow {
  const caller = callerOf(request)
  const conversation = office.desk.state.conversationByDisplayId(caller.account, Number(displayId))
  if (!conversation || office.faults.hides(conversation.inbox)) throw notFound()
  if (!maySee(caller, conversation.inbox)) throw refusedByPolicy()
  return conversation
}

export function findMessage({ desk }: Office, conversation: ConversationRow, id: string): MessageRow {
  const message = desk.state.messages.get(Number(id))
  if (message?.conversation !== conversation) throw notFound()
  return message
}

export function findUser({ desk }: Office, request: FastifyRequest, id: number): UserRow {
  const user = desk.state.users.get(id)
  if (!user?.memberships.has(callerOf(request).account.id)) throw notFound()
  return user
}

/** Bots never get here: the routes that are open to bots need no user. */
export function userOf(request: FastifyRequest): UserRow {
  const { author } = callerOf(request)
  if (author.type !== 'User') throw refusedByPolicy()
  return author.user
}
