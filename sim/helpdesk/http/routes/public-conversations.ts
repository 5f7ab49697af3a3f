// The public client API for a contact's conversations: messages, typing and reading.

import { Type } from 'typebox'
import type { Static } from 'typebox'
import { changeConversation } from '../../desk/change-conversation.ts'
import { startConversation } from '../../desk/conversations.ts'
import { createMessage } from '../../desk/create-message.ts'
import { notFound, unprocessable } from '../../desk/rails-error.ts'
import { markReadByContact, updateMessage } from '../../desk/update-message.ts'
import { publicConversationJson } from '../../json/conversation-json.ts'
import { publicMessageJson } from '../../json/message-json.ts'
import { exact, Nothing } from '../../schemas/basics.ts'
import * as open from '../../schemas/public-schemas.ts'
import type { ConversationRow } from '../../state/rows.ts'
import type { HttpApp } from '../http-app.ts'
import { findMessage } from '../lookups.ts'
import type { Office } from '../office.ts'
import { filesOf } from '../params.ts'
import { findContactInbox } from './public-contacts.ts'

const listPath = Type.Object({ identifier: Type.String(), source_id: Type.String() })
const params = Type.Object({ identifier: Type.String(), source_id: Type.String(), id: Type.String() })
const base = '/contacts/:source_id/conversations'

export function addPublicConversationRoutes(app: HttpApp, office: Office): void {
  app.get(base, { schema: { params: listPath, response: { 200: Type.Array(open.PublicConversation) } } }, (request) => {
    const row = findContactInbox(office, request.params)
    const isWide = row.hmacVerified || !office.desk.features.publicListByAddress
    const rows = isWide ? row.contact.contactInboxes.flatMap((one) => one.conversations) : row.conversations
    return rows.map((one) => publicConversationJson(office, one))
  })
  app.post(
    base,
    { schema: { params: listPath, body: open.PublicConversationParams, response: { 200: open.PublicConversation } } },
    (request) => {
      const customAttributes = request.body.custom_attributes ?? {}
      const row = startConversation(office.desk, findContactInbox(office, request.params), { customAttributes })
      return publicConversationJson(office, row)
    },
  )
  app.get(`${base}/:id`, { schema: { params, response: { 200: open.PublicConversation } } }, (request) =>
    publicConversationJson(office, findConversation(office, request.params)),
  )
  addActions(app, office)
  addMessages(app, office)
  addSubmission(app, office)
}

/** The conversation must belong to this contact inbox, or, for a verified contact, to this contact. */
function findConversation(office: Office, path: Static<typeof params>): ConversationRow {
  const row = findContactInbox(office, path)
  const found = office.desk.state.conversationByDisplayId(row.inbox.account, Number(path.id))
  const isTheirs = found?.contactInbox === row || (row.hmacVerified && found?.contact === row.contact)
  if (!found || !isTheirs) throw notFound()
  return found
}

function addActions(app: HttpApp, office: Office): void {
  const { desk } = office
  const query = exact({ typing_status: Type.Optional(Type.String()) })
  const body = exact({ typing_status: Type.Optional(Type.String()) })
  app.post(
    `${base}/:id/toggle_typing`,
    { schema: { params, querystring: query, body, response: { 200: Nothing } } },
    (request, reply) => {
      const conversation = findConversation(office, request.params)
      const status = request.body.typing_status ?? request.query.typing_status
      if (!status) throw unprocessable('param is missing or the value is empty: typing_status')
      const typist = { type: 'Contact' as const, contact: conversation.contact }
      if (status === 'on' || status === 'off') {
        conversation.contactTypingSince = status === 'on' ? desk.clock.now() : null
        desk.emit({ event: `conversation_typing_${status}`, conversation, typist, isPrivate: false })
      }
      void reply.send(null)
    },
  )
  const schema = { params, response: { 200: Nothing } }
  app.post(`${base}/:id/update_last_seen`, { schema }, (request, reply) => {
    markReadByContact(desk, findConversation(office, request.params))
    void reply.send(null)
  })
  app.post(
    `${base}/:id/toggle_status`,
    { schema: { params, response: { 200: open.PublicConversation } } },
    (request) => {
      const conversation = findConversation(office, request.params)
      changeConversation(desk, conversation, { status: 'resolved' }, 'system')
      return publicConversationJson(office, conversation)
    },
  )
}

function addMessages(app: HttpApp, office: Office): void {
  const { desk, files } = office
  const list = { params, response: { 200: Type.Array(open.PublicMessage) } }
  app.get(
    `${base}/:id/messages`,
    { schema: list },
    (request) => publicConversationJson(office, findConversation(office, request.params)).messages,
  )
  app.post(
    `${base}/:id/messages`,
    { schema: { params, body: open.PublicMessageParams, response: { 200: open.PublicMessage } } },
    async (request) => {
      const { content = null, attachments } = request.body
      const conversation = findConversation(office, request.params)
      const message = createMessage(desk, conversation, null, {
        content,
        messageType: 'incoming',
        files: filesOf(desk.state, attachments),
      })
      const answer = publicMessageJson(files, message)
      await office.webhooks.answerable(message)
      return answer
    },
  )
}

/** The contact answers a form, a list of choices or a survey. */
function addSubmission(app: HttpApp, office: Office): void {
  const messagePath = Type.Object({ ...params.properties, message_id: Type.String() })
  app.patch(
    `${base}/:id/messages/:message_id`,
    { schema: { params: messagePath, body: open.Submission, response: { 200: open.PublicMessage } } },
    (request) => {
      const conversation = findConversation(office, request.params)
      const message = findMessage(office, conversation, request.params.message_id)
      const { submitted_values: submitted } = request.body
      updateMessage(office.desk, message, {
        contentAttributes: { ...message.contentAttributes, submitted_values: submitted },
      })
      return publicMessageJson(office.files, message)
    },
  )
}
