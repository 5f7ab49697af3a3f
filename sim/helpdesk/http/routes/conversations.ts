// The endpoints that find and start conversations.

import { Type } from 'typebox'
import type { Static } from 'typebox'
import type { FastifyRequest } from 'fastify'
import { insertContactInbox } from '../../desk/contact-inboxes.ts'
import { createConversation, lockedConversation } from '../../desk/conversations.ts'
import type { ConversationParams } from '../../desk/conversations.ts'
import { createMessage } from '../../desk/create-message.ts'
import { crashed, notFound, RailsError, unprocessable } from '../../desk/rails-error.ts'
import { raceGap } from '../../desk/race-gap.ts'
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
    async (request) => {
      const { message } = request.body
      const address = findAddress(office, request, request.body)
      const params = conversationParams(office, request, request.body)
      // Parallel requests read before any of them has committed.
      const locked = address.known && lockedConversation(address.known)
      if (desk.settings.raceMs > 0) await raceGap(desk)
      const conversation = locked ?? createConversation(desk, address.known ?? address.build(), params)
      if (message) createMessage(desk, conversation, callerOf(request).author, messageParams(desk, message))
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

type Body = Static<typeof conversations.ConversationCreate>

function conversationParams(office: Office, request: FastifyRequest, body: Body): ConversationParams {
  const { assignee_id: assigneeId } = body
  return {
    ...(body.status === undefined ? {} : { status: parseStatus(body.status) }),
    additionalAttributes: body.additional_attributes ?? {},
    customAttributes: body.custom_attributes ?? {},
    assignee: assigneeId == null ? null : findUser(office, request, assigneeId),
    snoozedUntil: parseMoment(body.snoozed_until),
  }
}

/** The contact inbox of the new conversation, or the way to build it. */
type Address = { known: ContactInboxRow | undefined; build: () => ContactInboxRow }

function findAddress(office: Office, request: FastifyRequest, body: Body): Address {
  const { inbox_id: inboxId, contact_id: contactId, source_id: sourceId } = body
  const { state } = office.desk
  if (inboxId !== undefined && contactId !== undefined) {
    const inbox = findInbox(office, request, inboxId)
    const contact = findContact(office, request, contactId)
    const taken = () => unprocessable('source_id should be unique')
    const known = sourceId === undefined ? undefined : state.contactInboxBySource(inbox, sourceId)
    if (known && known.contact !== contact) throw taken()
    return { known, build: () => insertContactInbox(office.desk, { contact, inbox, sourceId, taken }) }
  }
  // The old form of the call uses the first contact inbox with this source_id in any helpdesk inbox.
  const { account } = callerOf(request)
  const known = state.contactInboxes.find(
    (one) => one.sourceId === sourceId && one.inbox.account === account && !office.faults.hides(one.inbox),
  )
  if (!known) throw notFound()
  return { known, build: () => known }
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
