// The endpoints for the people of an account, the members of its helpdesk inboxes, and its webhooks.

import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { Static } from 'typebox'
import { agentJson } from '../../json/conversation-json.ts'
import { Nothing } from '../../schemas/basics.ts'
import * as accounts from '../../schemas/account-schemas.ts'
import { requireAdmin } from '../authenticate.ts'
import type { HttpApp } from '../http-app.ts'
import { findInbox, findUser } from '../lookups.ts'
import type { Office } from '../office.ts'
import { callerOf } from '../request-notes.ts'

const everyEvent = [
  ...['message_created', 'message_updated', 'conversation_created', 'conversation_updated'],
  ...['conversation_status_changed', 'contact_created', 'contact_updated'],
]

export function addAccountRoutes(app: HttpApp, office: Office): void {
  const { desk } = office
  app.get('/', { schema: { response: { 200: accounts.AccountBody } } }, (request) => accountJson(office, request))
  app.get('/agents', { schema: { response: { 200: accounts.AgentList } } }, (request) => {
    const { account } = callerOf(request)
    const users = desk.state.users.all().filter((user) => user.memberships.has(account.id))
    return users.map((user) => agentJson(account, user))
  })
  const params = Type.Object({ account_id: Type.String(), inbox_id: Type.String() })
  app.get('/inbox_members/:inbox_id', { schema: { params, response: { 200: accounts.MemberList } } }, (request) => {
    const inbox = findInbox(office, request, request.params.inbox_id)
    const users = desk.state.users.all().filter((user) => inbox.memberIds.has(user.id))
    return { payload: users.map((user) => agentJson(inbox.account, user)) }
  })
  addMemberChanges(app, office)
  app.post(
    '/webhooks',
    { schema: { body: accounts.WebhookCreate, response: { 200: accounts.WebhookPayload } } },
    (request) => {
      const { account } = requireAdmin(request)
      const {
        url,
        name = null,
        subscriptions = everyEvent,
      } = 'webhook' in request.body ? request.body.webhook : request.body
      const secret = desk.choices.token('account webhook', url)
      const row = desk.state.accountWebhooks.insert((id) => ({ id, account, url, secret, subscriptions }))
      return { payload: { webhook: { id: row.id, name, url, account_id: account.id, subscriptions, secret } } }
    },
  )
}

function addMemberChanges(app: HttpApp, office: Office): void {
  app.route({
    method: ['POST', 'PATCH'],
    url: '/inbox_members',
    schema: { body: accounts.MembersChange, response: { 200: accounts.MemberList } },
    handler: (request) => {
      const { account } = requireAdmin(request)
      const inbox = findInbox(office, request, request.body.inbox_id)
      const users = request.body.user_ids.map((id) => findUser(office, request, id))
      // PATCH replaces the members, POST adds to them.
      if (request.method === 'PATCH') inbox.memberIds.clear()
      for (const user of users) inbox.memberIds.add(user.id)
      return { payload: users.map((user) => agentJson(account, user)) }
    },
  })
  app.delete(
    '/inbox_members',
    { schema: { body: accounts.MembersChange, response: { 200: Nothing } } },
    (request, reply) => {
      requireAdmin(request)
      const inbox = findInbox(office, request, request.body.inbox_id)
      for (const id of request.body.user_ids) inbox.memberIds.delete(id)
      void reply.send(null)
    },
  )
}

function accountJson({ desk }: Office, request: FastifyRequest): Static<typeof accounts.AccountBody> {
  const { account } = callerOf(request)
  return {
    id: account.id,
    name: account.name,
    locale: 'en',
    domain: null,
    support_email: null,
    status: 'active',
    created_at: new Date(account.createdAt).toISOString(),
    cache_keys: {},
    features: desk.settings.crmV2 ? { crm_v2: true } : {},
    settings: {},
    custom_attributes: {},
    latest_chatwoot_version: null,
    subscribed_features: [],
  }
}
