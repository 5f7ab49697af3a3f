// Control routes under /helpdesk for actions that Chatwoot's own interface lacks: faults, resets, new agents.

import type { FastifyInstance, FastifyPluginCallback } from 'fastify'
import { Type } from 'typebox'
import type { Static, TSchema } from 'typebox'
import { defined } from '../../defined.ts'
import { exact, Id } from '../schemas/basics.ts'
import { misfit } from '../schemas/schema-check.ts'
import { busy, calm, lifelike } from '../settings.ts'
import type { SimHelpdesk } from '../sim-helpdesk.ts'
import { FaultBody, formatFault, isImmediate, parseFault } from './fault-schemas.ts'

const SettingsBody = exact({
  messages_per_minute: Type.Optional(Type.Integer({ minimum: 1 })),
  enterprise: Type.Optional(Type.Boolean()),
  sign_webhooks: Type.Optional(Type.Boolean()),
  quirks: Type.Optional(Type.Union([Type.Literal('calm'), Type.Literal('lifelike'), Type.Literal('busy')])),
})
const AbsenceBody = exact({ ms: Type.Integer({ minimum: 1 }) })
const AutomationBody = exact({ content: Type.String(), inbox_id: Type.Optional(Id) })
const AccountBody = exact({ name: Type.String() })
const AgentBody = exact({
  name: Type.String(),
  role: Type.Optional(Type.Union([Type.Literal('agent'), Type.Literal('administrator')])),
  account_id: Type.Optional(Id),
})

/** Checks the body here: the host's own validation may coerce or drop unknown fields. */
function reader<T extends TSchema>(schema: T): (body: unknown) => Static<T> {
  return (body) => {
    const reason = misfit(schema, body ?? {})
    if (reason === undefined) return (body ?? {}) as Static<T>
    throw Object.assign(new Error(`the body does not fit: ${reason}`), { statusCode: 400 })
  }
}

const readFault = reader(FaultBody)
const readSettings = reader(SettingsBody)
const readAbsence = reader(AbsenceBody)
const readAutomation = reader(AutomationBody)
const readAccount = reader(AccountBody)
const readAgent = reader(AgentBody)

export function helpdeskControl(helpdesk: SimHelpdesk): FastifyPluginCallback {
  return (app, _, done) => {
    addFaults(app, helpdesk)
    addWorld(app, helpdesk)
    addLogs(app, helpdesk)
    done()
  }
}

function addFaults(app: FastifyInstance, helpdesk: SimHelpdesk): void {
  app.post('/faults', async (request, reply) => {
    const fault = readFault(request.body)
    if (!isImmediate(fault)) return reply.code(201).send({ id: await helpdesk.fault(parseFault(fault)) })
    if (fault.kind === 'conversation_deleted') {
      helpdesk.world.deleteConversation({ accountId: fault.account_id ?? 1, id: fault.conversation_id })
    } else {
      await helpdesk.restart(fault.down_ms)
    }
    return reply.code(201).send({ id: null })
  })
  app.get('/faults', () => helpdesk.faults.map(formatFault))
  app.delete('/faults', async () => {
    await helpdesk.clearFaults()
    return { faults: [] }
  })
  app.delete<{ Params: { id: string } }>('/faults/:id', async ({ params }) => {
    await helpdesk.clearFaults(Number(params.id))
    return { faults: helpdesk.faults.map(formatFault) }
  })
}

function addWorld(app: FastifyInstance, helpdesk: SimHelpdesk): void {
  const shown = () => ({ ...helpdesk.facts, agent_view: helpdesk.agentView })
  app.get('/', shown)
  app.post('/reset', async () => {
    await helpdesk.reset()
    return shown()
  })
  app.post('/settings', (request) => {
    const settings = readSettings(request.body)
    const changes = {
      messagesPerMinute: settings.messages_per_minute,
      enterprise: settings.enterprise,
      signWebhooks: settings.sign_webhooks,
      quirks: settings.quirks && { busy, calm, lifelike }[settings.quirks],
    }
    helpdesk.configure(defined(changes))
    return { changed: true }
  })
  app.post('/workers-away', (request) => {
    helpdesk.workersAway(readAbsence(request.body).ms)
    return { away: true }
  })
  app.post('/automations', async (request, reply) => {
    const { content, inbox_id: inboxId } = readAutomation(request.body)
    return reply.code(201).send(helpdesk.world.addAutomation(content, inboxId))
  })
  app.post('/settle', async () => {
    await helpdesk.settled()
    return { settled: true }
  })
  app.post('/accounts', async (request, reply) =>
    reply.code(201).send(helpdesk.world.addAccount(readAccount(request.body).name)),
  )
  app.post('/agents', async (request, reply) => {
    const { name, role, account_id: accountId } = readAgent(request.body)
    return reply.code(201).send(helpdesk.world.addAgent({ name, ...defined({ role, accountId }) }))
  })
}

function addLogs(app: FastifyInstance, helpdesk: SimHelpdesk): void {
  app.get('/refusals', () => helpdesk.refusals)
  app.get('/requests', () => helpdesk.requests.slice(-1000))
  app.get('/deliveries', () =>
    helpdesk.deliveries.slice(-1000).map(({ deliveryId, url, event, at, status, error }) => ({
      delivery_id: deliveryId,
      url,
      event,
      at: new Date(at).toISOString(),
      status,
      error,
    })),
  )
}
