// The endpoints for the assignee, the labels and the priority of a conversation.

import { Type } from 'typebox'
import { changeConversation } from '../../desk/change-conversation.ts'
import { agentJson, conversationJson } from '../../json/conversation-json.ts'
import { Nothing } from '../../schemas/basics.ts'
import { LabelsBody, LabelsPayload } from '../../schemas/contact-schemas.ts'
import * as conversations from '../../schemas/conversation-schemas.ts'
import type { HttpApp } from '../http-app.ts'
import { findConversation, findUser } from '../lookups.ts'
import type { Office } from '../office.ts'
import { callerOf } from '../request-notes.ts'

const params = Type.Object({ account_id: Type.String(), id: Type.String() })

export function addAssignmentRoutes(app: HttpApp, office: Office): void {
  const { desk } = office
  app.post(
    '/conversations/:id/assignments',
    {
      schema: {
        params,
        body: conversations.Assignment,
        response: { 200: Type.Union([conversations.AgentBody, Type.Literal('null')]) },
      },
    },
    (request, reply) => {
      const conversation = findConversation(office, request, request.params.id)
      const { author, account } = callerOf(request)
      const { assignee_id: id } = request.body
      const assignee = id == null || id === 0 ? null : findUser(office, request, id)
      changeConversation(desk, conversation, { assignee }, author.type === 'User' ? author.user : 'system')
      if (assignee) return agentJson(account, assignee)
      void reply.type('application/json').serializer(String)
      return 'null' as const
    },
  )
  const labels = { params, response: { 200: LabelsPayload } }
  app.get('/conversations/:id/labels', { schema: labels }, (request) => ({
    payload: findConversation(office, request, request.params.id).labels,
  }))
  app.post('/conversations/:id/labels', { schema: { ...labels, body: LabelsBody } }, (request) => {
    const conversation = findConversation(office, request, request.params.id)
    changeConversation(desk, conversation, { labels: request.body.labels }, 'system')
    return { payload: conversation.labels }
  })
  app.post(
    '/conversations/:id/toggle_priority',
    { schema: { params, body: conversations.PriorityChange, response: { 200: Nothing } } },
    (request, reply) => {
      const { priority } = request.body
      const conversation = findConversation(office, request, request.params.id)
      changeConversation(desk, conversation, { priority: priority === 'none' ? null : priority }, 'system')
      void reply.send(null)
    },
  )
  app.patch(
    '/conversations/:id',
    { schema: { params, body: conversations.PriorityChange, response: { 200: conversations.ConversationBody } } },
    (request) => {
      const { priority } = request.body
      const conversation = findConversation(office, request, request.params.id)
      changeConversation(desk, conversation, { priority: priority === 'none' ? null : priority }, 'system')
      return conversationJson(office, conversation)
    },
  )
}
