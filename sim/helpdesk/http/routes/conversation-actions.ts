// The endpoints that change a conversation: status, seen, typing, attributes.

import { Type } from 'typebox'
import { changeConversation } from '../../desk/change-conversation.ts'
import { markSeenByAgent, refuseLongAttributes } from '../../desk/conversations.ts'
import { conversationJson } from '../../json/conversation-json.ts'
import { isoOrNull } from '../../json/times.ts'
import { Nothing } from '../../schemas/basics.ts'
import * as conversations from '../../schemas/conversation-schemas.ts'
import type { ConversationRow, ConversationStatus } from '../../state/rows.ts'
import type { HttpApp } from '../http-app.ts'
import { findConversation, userOf } from '../lookups.ts'
import type { Office } from '../office.ts'
import { callerOf } from '../request-notes.ts'
import { parseStatus } from './conversations.ts'

const params = Type.Object({ account_id: Type.String(), id: Type.String() })

export function addConversationActionRoutes(app: HttpApp, office: Office): void {
  const { desk } = office
  addStatus(app, office)
  addSeen(app, office)
  app.post(
    '/conversations/:id/toggle_typing_status',
    { schema: { params, body: conversations.TypingToggle, response: { 200: Nothing } } },
    (request, reply) => {
      const conversation = findConversation(office, request, request.params.id)
      const { typing_status: status, is_private: isPrivate = false } = request.body
      desk.emit({ event: `conversation_typing_${status}`, conversation, typist: callerOf(request).author, isPrivate })
      void reply.send(null)
    },
  )
  app.post(
    '/conversations/:id/custom_attributes',
    { schema: { params, body: conversations.CustomAttributes, response: { 200: conversations.CustomAttributes } } },
    (request) => {
      const conversation = findConversation(office, request, request.params.id)
      const { custom_attributes: customAttributes } = request.body
      refuseLongAttributes('custom_attributes', customAttributes)
      changeConversation(desk, conversation, { customAttributes }, 'system')
      return { custom_attributes: conversation.customAttributes }
    },
  )
}

function addStatus(app: HttpApp, office: Office): void {
  const { desk } = office
  app.post(
    '/conversations/:id/toggle_status',
    { schema: { params, body: conversations.StatusToggle, response: { 200: conversations.StatusToggled } } },
    (request) => {
      const conversation = findConversation(office, request, request.params.id)
      const { author, role } = callerOf(request)
      const { status: name, snoozed_until: until } = request.body
      const status = name === undefined ? toggled(conversation) : parseStatus(name)
      // A second snooze without a time keeps the first one.
      const known = conversation.status === 'snoozed' ? conversation.snoozedUntil : null
      const snoozedUntil = status === 'snoozed' ? (until == null ? known : until * 1000) : null
      const by = author.type === 'User' ? author.user : 'system'
      changeConversation(desk, conversation, { status, snoozedUntil }, by)
      // An agent who opens a conversation gets it assigned. An administrator does not.
      if (role === 'agent' && author.type === 'User' && status === 'open') {
        changeConversation(desk, conversation, { assignee: author.user }, by)
      }
      return {
        payload: {
          success: true,
          conversation_id: conversation.displayId,
          current_status: conversation.status,
          snoozed_until: isoOrNull(conversation.snoozedUntil),
        },
      }
    },
  )
  const mute = (path: 'mute' | 'unmute') => {
    app.post(`/conversations/:id/${path}`, { schema: { params, response: { 200: Nothing } } }, (request, reply) => {
      const conversation = findConversation(office, request, request.params.id)
      conversation.contact.blocked = path === 'mute'
      if (path === 'mute') changeConversation(desk, conversation, { status: 'resolved' }, userOf(request))
      void reply.send(null)
    })
  }
  mute('mute')
  mute('unmute')
}

function toggled({ status }: ConversationRow): ConversationStatus {
  return status === 'open' ? 'resolved' : 'open'
}

function addSeen(app: HttpApp, office: Office): void {
  const { desk } = office
  const schema = { params, response: { 200: conversations.ConversationBody } }
  app.post('/conversations/:id/update_last_seen', { schema }, (request) => {
    const conversation = findConversation(office, request, request.params.id)
    markSeenByAgent(desk, conversation, userOf(request))
    return conversationJson(office, conversation)
  })
  app.post('/conversations/:id/unread', { schema }, (request) => {
    const conversation = findConversation(office, request, request.params.id)
    const last = conversation.messages.findLast((one) => one.messageType === 'incoming')
    if (last) {
      conversation.agentLastSeenAt = last.createdAt - 1000
      conversation.assigneeLastSeenAt = last.createdAt - 1000
    }
    return conversationJson(office, conversation)
  })
}
