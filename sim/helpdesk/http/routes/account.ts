// The endpoints for the people of an account, the members of its helpdesk inboxes, and its webhooks.

import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { Static } from 'typebox'
import { agentJson } from '../../json/conversation-json.ts'
import { RailsError } from '../../desk/rails-error.ts'
import * as accounts from '../../schemas/account-schemas.ts'
import { requireAdmin, tokenOf } from '../authenticate.ts'
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
  app.post(
    '/inbox_members',
    { schema: { body: accounts.MembersChange, response: { 200: accounts.MemberList } } },
    (request) => {
      const { account } = requireAdmin(request)
      const inbox = findInbox(office, request, request.body.inbox_id)
      const users = request.body.user_ids.map((id) => findUser(office, request, id))
      for (const user of users) inbox.memberIds.add(user.id)
      return { payload: users.map((user) => agentJson(account, user)) }
    },
  )
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

export function addProfileRoute(app: HttpApp, { desk }: Office): void {
  app.get('/api/v1/profile', { schema: { response: { 200: accounts.Profile } } }, (request) => {
    const token = tokenOf(request, desk.settings.dropUnderscoreHeaders)
    const user = desk.state.users.find((one) => one.token === token)
    if (!user) throw new RailsError(401, { error: 'Invalid Access Token' })
    const memberships = [...user.memberships].flatMap(([id, role]) => {
      const account = desk.state.accounts.get(id)
      return account ? [{ id, name: account.name, status: account.suspended ? 'suspended' : 'active', role }] : []
    })
    return {
      id: user.id,
      access_token: user.token,
      account_id: memberships[0]?.id ?? 1,
      available_name: user.name,
      avatar_url: '',
      confirmed: true,
      email: user.email,
      provider: 'email',
      name: user.name,
      role: memberships[0]?.role ?? 'agent',
      type: null,
      accounts: memberships,
    }
  })
}
