// The endpoints that find and start conversations.

import { Type } from 'typebox'
import type { Static } from 'typebox'
import type { FastifyRequest } from 'fastify'
import { buildContactInbox } from '../../desk/contact-inboxes.ts'
import { startConversation } from '../../desk/conversations.ts'
import { createMessage } from '../../desk/create-message.ts'
import { crashed, notFound, RailsError, unprocessable } from '../../desk/rails-error.ts'
import { conversationJson } from '../../json/conversation-json.ts'
import { Nothing } from '../../schemas/basics.ts'
import * as conversations from '../../schemas/conversation-schemas.ts'
import { conversationStatuses } from '../../state/rows.ts'
import type { ContactInboxRow, ConversationStatus } from '../../state/rows.ts'
import { requireAdmin } from '../authenticate.ts'
import type { HttpApp } from '../http-app.ts'
import { findContact, findConversation, findInbox, findUser } from '../lookups.ts'
import type { Office } from '../office.ts'
import { messageParams } from '../params.ts'
import { callerOf } from '../request-notes.ts'

const params = Type.Object({ account_id: Type.String(), id: Type.String() })

export function addConversationRoutes(app: HttpApp, office: Office): void {
  const { desk } = office
  const schema = { params, response: { 200: conversations.ConversationBody } }
  app.get('/conversations/:id', { schema }, (request) =>
    conversationJson(office, findConversation(office, request, request.params.id)),
  )
  app.post(
    '/conversations',
    {
      schema: { body: conversations.ConversationCreate, response: { 200: conversations.ConversationBody } },
    },
    (request) => {
      const { message, assignee_id: assigneeId } = request.body
      const conversation = startConversation(desk, contactInboxFor(office, request, request.body), {
        ...(request.body.status === undefined ? {} : { status: parseStatus(request.body.status) }),
        additionalAttributes: request.body.additional_attributes ?? {},
        customAttributes: request.body.custom_attributes ?? {},
        assignee: assigneeId == null ? null : findUser(office, request, assigneeId),
        snoozedUntil: parseMoment(request.body.snoozed_until),
      })
      if (message) createMessage(desk, conversation, callerOf(request).author, messageParams(message))
      return conversationJson(office, conversation)
    },
  )
  app.delete('/conversations/:id', { schema: { params, response: { 200: Nothing } } }, (request, reply) => {
    requireAdmin(request)
    const conversation = findConversation(office, request, request.params.id)
    desk.later(() => {
      desk.state.removeConversation(conversation)
    })
    void reply.send(null)
  })
}

function contactInboxFor(
  office: Office,
  request: FastifyRequest,
  body: Static<typeof conversations.ConversationCreate>,
): ContactInboxRow {
  const { inbox_id: inboxId, contact_id: contactId, source_id: sourceId } = body
  if (inboxId !== undefined && contactId !== undefined) {
    const inbox = findInbox(office, request, inboxId)
    const contact = findContact(office, request, contactId)
    const taken = () => unprocessable('source_id should be unique')
    return buildContactInbox(office.desk, { contact, inbox, sourceId, taken })
  }
  // The old form of the call uses the first contact inbox with this source_id in any helpdesk inbox.
  const { account } = callerOf(request)
  const found = office.desk.state.contactInboxes.find(
    (one) => one.sourceId === sourceId && one.inbox.account === account && !office.faults.hides(one.inbox),
  )
  if (!found) throw notFound()
  return found
}

/** Chatwoot does not handle an unknown status and answers 500. */
export function parseStatus(name: string): ConversationStatus {
  const status = conversationStatuses.find((one) => one === name)
  if (!status) throw crashed()
  return status
}

function parseMoment(value: string | number | null | undefined): number | null {
  if (value == null) return null
  const at = typeof value === 'number' ? value * 1000 : Date.parse(value)
  if (Number.isNaN(at))
    throw new RailsError(422, { message: 'Snoozed until is invalid', attributes: ['snoozed_until'] })
  return at
}
