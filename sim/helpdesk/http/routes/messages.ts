// The message endpoints of the account API.

import { Type } from 'typebox'
import type { Static } from 'typebox'
import type { FastifyRequest } from 'fastify'
import { createMessage } from '../../desk/create-message.ts'
import type { MessageParams } from '../../desk/create-message.ts'
import { raceGap } from '../../desk/race-gap.ts'
import { deleteMessage, retryMessage, setStatus } from '../../desk/update-message.ts'
import { messageListJson } from '../../json/conversation-json.ts'
import { messageJson } from '../../json/message-json.ts'
import { MessageList } from '../../schemas/conversation-schemas.ts'
import * as messages from '../../schemas/message-schemas.ts'
import type { Author, MessageRow } from '../../state/rows.ts'
import type { HttpApp } from '../http-app.ts'
import { findConversation, findMessage } from '../lookups.ts'
import type { Office } from '../office.ts'
import { messageParams } from '../params.ts'
import { callerOf, notesOn } from '../request-notes.ts'

const params = Type.Object({ account_id: Type.String(), id: Type.String() })
const messagePath = Type.Object({ account_id: Type.String(), id: Type.String(), message_id: Type.String() })

export function addMessageRoutes(app: HttpApp, office: Office): void {
  const { desk, files } = office
  app.get(
    '/conversations/:id/messages',
    { schema: { params, querystring: messages.MessageListQuery, response: { 200: MessageList } } },
    (request) => {
      const conversation = findConversation(office, request, request.params.id)
      return messageListJson(office, conversation, selectMessages(conversation.messages, request.query))
    },
  )
  app.post(
    '/conversations/:id/messages',
    { schema: { params, body: messages.MessageCreate, response: { 200: messages.MessageBody } } },
    async (request) => {
      const conversation = findConversation(office, request, request.params.id)
      const author = authorOf(office, request, request.body)
      const { status: readStatus } = conversation
      if (desk.settings.raceMs > 0) await raceGap(desk)
      const message = createMessage(desk, conversation, author, {
        ...messageParams(desk, request.body),
        ...beginning(request),
        readStatus,
      })
      const answer = messageJson(files, message, request.body.echo_id)
      await office.webhooks.answerable(message)
      return answer
    },
  )
  app.route({
    method: ['PUT', 'PATCH'],
    url: '/conversations/:id/messages/:message_id',
    schema: { params: messagePath, body: messages.MessageUpdate, response: { 200: messages.MessageBody } },
    handler: (request) => {
      const message = namedMessage(office, request)
      const { status, external_error: reason } = request.body
      if (status !== undefined) setStatus(desk, message, status, reason ?? undefined)
      return messageJson(files, message)
    },
  })
  const schema = { params: messagePath, response: { 200: messages.MessageBody } }
  app.delete('/conversations/:id/messages/:message_id', { schema }, (request) => {
    const message = namedMessage(office, request)
    deleteMessage(desk, message)
    return messageJson(files, message)
  })
  app.post('/conversations/:id/messages/:message_id/retry', { schema }, (request) => {
    const message = namedMessage(office, request)
    retryMessage(desk, message)
    return messageJson(files, message)
  })
}

function beginning(request: FastifyRequest): Pick<MessageParams, 'begun'> {
  const { begun } = notesOn(request)
  return begun ? { begun } : {}
}

function namedMessage(office: Office, request: FastifyRequest): MessageRow {
  const { id, message_id: messageId } = request.params as Static<typeof messagePath>
  return findMessage(office, findConversation(office, request, id), messageId)
}

function authorOf({ desk }: Office, request: FastifyRequest, body: Static<typeof messages.MessageCreate>): Author {
  if (body.sender_type !== 'AgentBot') return callerOf(request).author
  const bot = desk.state.agentBots.get(Number(body.sender_id))
  return bot ? { type: 'AgentBot', bot } : callerOf(request).author
}

/** Selects by id and sorts by time. The two orders differ for backdated rows. */
function selectMessages(
  rows: readonly MessageRow[],
  { before, after }: Static<typeof messages.MessageListQuery>,
): MessageRow[] {
  // With both limits the lower one belongs to the range.
  const first = after === undefined ? 0 : toNumber(after) + (before === undefined ? 1 : 0)
  const inside = rows.filter((row) => row.id >= first && (before === undefined || row.id < toNumber(before)))
  const byTime = inside.toSorted((a, b) => a.createdAt - b.createdAt || a.id - b.id)
  if (after !== undefined) return byTime.slice(0, before === undefined ? 100 : 1000)
  return byTime.slice(-20)
}

/** Ruby reads a text without digits as zero. */
function toNumber(text: string): number {
  return Number.parseInt(text) || 0
}
