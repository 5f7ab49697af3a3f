// The endpoints for bots: a new bot, and the bot of a helpdesk inbox.

import { Type } from 'typebox'
import type { Static } from 'typebox'
import { defined } from '../../../defined.ts'
import { notFound } from '../../desk/rails-error.ts'
import { addBot } from '../../provision.ts'
import * as accounts from '../../schemas/account-schemas.ts'
import { Nothing } from '../../schemas/basics.ts'
import type { AgentBotRow } from '../../state/rows.ts'
import { requireAdmin } from '../authenticate.ts'
import type { HttpApp } from '../http-app.ts'
import { findInbox } from '../lookups.ts'
import type { Office } from '../office.ts'

const params = Type.Object({ account_id: Type.String(), id: Type.String() })

export function addAgentBotRoutes(app: HttpApp, office: Office): void {
  const { desk } = office
  app.post(
    '/agent_bots',
    { schema: { body: accounts.AgentBotCreate, response: { 200: accounts.AgentBotBody } } },
    (request) => {
      const { account } = requireAdmin(request)
      const { name, description, outgoing_url: outgoingUrl } = request.body
      return agentBotJson(addBot(desk, account, { name, ...defined({ description, outgoingUrl }) }))
    },
  )
  app.post(
    '/inboxes/:id/set_agent_bot',
    { schema: { params, body: accounts.AgentBotChoice, response: { 200: Nothing } } },
    (request, reply) => {
      const { account } = requireAdmin(request)
      const inbox = findInbox(office, request, request.params.id)
      const { agent_bot: id } = request.body
      const bot = id == null ? null : desk.state.agentBots.get(id)
      if (bot === undefined || (bot && bot.account !== account)) throw notFound()
      inbox.agentBot = bot
      void reply.send(null)
    },
  )
  app.get('/inboxes/:id/agent_bot', { schema: { params, response: { 200: accounts.InboxAgentBot } } }, (request) => {
    const { agentBot } = findInbox(office, request, request.params.id)
    return { agent_bot: agentBot ? agentBotJson(agentBot) : {} }
  })
}

function agentBotJson(bot: AgentBotRow): Static<typeof accounts.AgentBotBody> {
  return {
    id: bot.id,
    name: bot.name,
    description: bot.description,
    thumbnail: '',
    outgoing_url: bot.outgoingUrl,
    bot_type: 'webhook',
    bot_config: {},
    account_id: bot.account.id,
    access_token: bot.token,
    secret: bot.secret,
    system_bot: false,
  }
}
