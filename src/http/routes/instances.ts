// The instance endpoints: create, list, inspect, patch, delete, and the bulk forms.

import { json } from 'node:stream/consumers'
import { Type } from 'typebox'
import type { Static } from 'typebox'
import type { Caller } from '../../core/audit.ts'
import { BridgeError } from '../../core/errors.ts'
import { instanceNamePattern } from '../../core/instance.ts'
import { spamguardMinChars, spamguardWindowMs } from '../../guard/spamguard.ts'
import type { InstanceRegistry } from '../../instances/instance-registry.ts'
import type { InstanceService } from '../../instances/service/instance-service.ts'
import type { LinkedAccount } from '../../instances/linked-account.ts'
import type { Roster } from '../../instances/roster/roster.ts'
import { atOwner, servedByOwner } from '../forwarding/route-forwarder.ts'
import type { AskOwner, RouteForwarder } from '../forwarding/route-forwarder.ts'
import type { HttpApp } from '../http-app.ts'
import { readDetails } from '../instance-details.ts'
import type { DetailDeps } from '../instance-details.ts'
import { createFields, PatchBody, toSettings } from '../instance-settings.ts'
import { detailWith, ListItem, PendingLogout, pendingLogoutAdvice, State, Summary } from '../instance-view.ts'
import { toDetail, toListItem, toSummary } from '../instance-view.ts'
import { withOwnFields } from '../own-settings.ts'
import { InstanceName, InstanceParams, instanceNameRule, nullable, responses } from '../schemas.ts'
import { ConnectedInbox, connectCreated, setupStatuses } from './setup.ts'
import type { SetupDeps } from './setup.ts'

const maxBulk = 500
const spamguard = { spamguard_window_ms: spamguardWindowMs, spamguard_min_chars: spamguardMinChars }

export type InstanceDeps = SetupDeps &
  DetailDeps & {
    instances: Pick<InstanceRegistry, 'get'>
    roster: Pick<Roster, 'findCurrent' | 'getCurrent'>
    instanceService: InstanceService
  }

const CreateBody = Type.Object(
  {
    name: InstanceName,
    ...createFields,
    resume: Type.Optional(Type.Boolean({ description: 'Take up the kept session of a deleted instance of this name' })),
    inbox: Type.Optional(
      nullable(Type.Boolean({ description: 'true: also create the helpdesk inbox, or adopt that of inbox_id' })),
    ),
  },
  { title: 'InstanceCreate' },
)
const Created = Type.Object(
  { ...Summary.properties, inbox: Type.Optional(ConnectedInbox) },
  { title: 'InstanceCreated', description: 'inbox is there when it was asked for' },
)
const Patched = Type.Object({
  ...Summary.properties,
  spamguard_enabled: Type.Boolean(),
  spamguard_window_ms: Type.Integer(),
  spamguard_min_chars: Type.Integer(),
})
const BulkBody = Type.Object(
  { names: Type.Array(Type.String(), { minItems: 1, maxItems: maxBulk }) },
  { title: 'BulkCreate' },
)
const BulkItem = Type.Object(
  {
    name: Type.String(),
    state: Type.String(),
    jid: Type.Optional(nullable(Type.String())),
    error: Type.Optional(Type.String()),
  },
  { title: 'BulkItem', description: 'state is "error" with a sentence where a name could not be created' },
)
const StatusItem = Type.Unsafe<object>({
  type: 'object',
  title: 'BulkStatusItem',
  description: 'An Instance, or {name, state: "not_found"}',
  additionalProperties: true,
})

const Deleted = Type.Object({
  message: Type.String(),
  state: Type.Optional(State),
  pending_logout: PendingLogout,
})

export function addInstanceRoutes(app: HttpApp, deps: InstanceDeps, forwarder: RouteForwarder | null): void {
  addCollectionRoutes(app, deps, forwarder)
  addItemRoutes(app, deps)
  addBulkRoutes(app, deps, forwarder)
}

const about = (operationId: string, summary: string) => ({ operationId, summary, tags: ['instances'] })

function addCollectionRoutes(app: HttpApp, deps: InstanceDeps, forwarder: RouteForwarder | null): void {
  app.post(
    '/api/instances',
    {
      schema: {
        ...about('createInstance', 'Create an instance and open its pairing; an existing one is asked to become ready'),
        body: withOwnFields(deps.ownSettings, CreateBody),
        response: responses({ 200: Created, 201: Created }, ...setupStatuses),
      },
      config: { handsOver: true },
    },
    async (request, reply) => {
      const { body, actor } = request
      return servedByOwner(forwarder, { request, reply, instance: body.name }, async () => {
        const outcome = await (body.inbox ? createWithInbox(deps, body, actor) : create(deps, body, actor))
        const { created, account, inbox } = outcome
        return reply.code(created ? 201 : 200).send({ ...toSummary(account), ...(inbox && { inbox }) })
      })
    },
  )
  app.get(
    '/api/instances',
    { schema: { ...about('listInstances', 'All instances'), response: { 200: Type.Array(ListItem) } } },
    async () => (await deps.roster.current()).map(toListItem),
  )
}

type CreateRequest = Static<typeof CreateBody>
type CreateOutcome = { created: boolean; account: LinkedAccount; inbox?: Static<typeof ConnectedInbox> }

function create(
  { instanceService, ownSettings }: InstanceDeps,
  body: CreateRequest,
  actor: Caller,
): Promise<CreateOutcome> {
  return instanceService.create(body.name, toSettings(ownSettings, body), body.resume ?? false, actor)
}

/** The helpdesk inbox is asked for before anything is stored, and set up after the pairing is open. */
async function createWithInbox(deps: InstanceDeps, body: CreateRequest, actor: Caller): Promise<CreateOutcome> {
  const { inbox_id: asked, ...settings } = body
  const existing = (await deps.roster.findCurrent(body.name))?.record
  const route = { ownerTag: body.owner_tag ?? existing?.ownerTag ?? '', inboxId: existing?.inboxId ?? 0 }
  const inboxId = asked || null
  await deps.setup.assertPossible(route, { inboxId })
  const outcome = await create(deps, settings, actor)
  return { ...outcome, inbox: await connectCreated(deps, body.name, inboxId, actor) }
}

function addItemRoutes(app: HttpApp, { instances, roster, instanceService, clock, ownSettings }: InstanceDeps): void {
  app.get(
    '/api/instances/:name',
    {
      schema: {
        ...about('getInstance', 'One instance'),
        params: InstanceParams,
        response: responses({ 200: detailWith(ownSettings) }, 404),
      },
    },
    ({ params }) => toDetail(ownSettings, instances.get(params.name), clock.now()),
  )
  app.get(
    '/api/instances/:name/state',
    {
      schema: {
        ...about('getInstanceState', 'The state of one instance'),
        params: InstanceParams,
        response: responses(
          { 200: Type.Object({ instance: Type.String(), state: State, jid: nullable(Type.String()) }) },
          404,
        ),
      },
    },
    async ({ params }) => {
      const { state, jid } = (await roster.getCurrent(params.name)).record
      return { instance: params.name, state, jid }
    },
  )
  app.patch(
    '/api/instances/:name',
    {
      schema: {
        ...about(
          'patchInstance',
          'Change settings; absent and null fields stay as they are, except where null is described',
        ),
        params: InstanceParams,
        body: withOwnFields(ownSettings, PatchBody),
        response: responses({ 200: Patched }, 404, 409),
      },
    },
    async ({ params, body, actor }) => {
      const account = await instanceService.patch(params.name, toSettings(ownSettings, body), actor)
      return { ...toSummary(account), spamguard_enabled: account.record.isSpamguardEnabled, ...spamguard }
    },
  )
  app.delete(
    '/api/instances/:name',
    {
      schema: {
        ...about('deleteInstance', 'Remove an instance; its session stays valid unless logout=true'),
        params: InstanceParams,
        querystring: Type.Object({
          logout: Type.Optional(Type.String({ pattern: '^(true|false|1|0)$', description: 'true or false' })),
        }),
        response: responses({ 200: Deleted }, 404),
      },
    },
    async ({ params, query, actor }) => {
      const logout = query.logout === 'true' || query.logout === '1'
      const { isLogoutPending } = await instanceService.remove(params.name, logout, actor)
      if (!isLogoutPending) return { message: 'deleted' }
      const state = 'logged_out' as const
      return { message: `deleted. ${pendingLogoutAdvice}`, state, pending_logout: true }
    },
  )
}

function addBulkRoutes(app: HttpApp, deps: InstanceDeps, forwarder: RouteForwarder | null): void {
  const createOne = async (name: string, actor: Caller, askOwner: AskOwner | undefined) => {
    try {
      if (!new RegExp(instanceNamePattern).test(name)) {
        throw new BridgeError('SERVICE_BAD_REQUEST', `this is not ${instanceNameRule}`)
      }
      const createHere = async (): Promise<Static<typeof BulkItem>> =>
        toSummary((await deps.instanceService.create(name, {}, false, actor)).account)
      return await (askOwner ? atOwner(createHere, () => createElsewhere(name, askOwner)) : createHere())
    } catch (error) {
      const sentence =
        error instanceof BridgeError ? error.message : 'the instance could not be created; the log says why'
      if (!(error instanceof BridgeError))
        app.log.error({ err: error, instance: name.slice(0, 64) }, 'bulk create failed for a name')
      return { name, state: 'error', error: sentence }
    }
  }
  app.post(
    '/api/instances/bulk',
    {
      schema: {
        ...about('bulkCreateInstances', 'Create many; a name that fails does not stop the others'),
        body: BulkBody,
        response: { 200: Type.Array(BulkItem) },
      },
      config: { handsOver: true },
    },
    (request, reply) => {
      const { body, actor } = request
      const askOwner = forwarder?.askFor(request, reply)
      return Promise.all(body.names.map((name) => createOne(name, actor, askOwner)))
    },
  )
  app.get(
    '/api/instances/bulk/status',
    {
      schema: {
        ...about('bulkStatus', 'Details of every instance, or of those named'),
        description:
          'With several nodes, an instance whose node does not answer within a second is shown as it is stored: ' +
          'qr.available is false, and reconnect_attempts is 0.',
        querystring: Type.Object({
          names: Type.Optional(Type.String({ maxLength: 40_000, description: 'names separated by commas' })),
        }),
        response: { 200: Type.Array(StatusItem) },
      },
    },
    async ({ query }) => {
      const wanted = query.names?.split(',').map((name) => name.trim())
      const all = await readDetails(deps)
      if (!wanted) return all
      const byName = new Map(all.map((detail) => [detail.name, detail]))
      return wanted.map((name) => byName.get(name) ?? { name, state: 'not_found' })
    },
  )
}

/** The owner answers for this one name of the list. */
async function createElsewhere(name: string, askOwner: AskOwner): Promise<Static<typeof BulkItem> | 'here'> {
  const answer = await askOwner(name, { names: [name] })
  if (answer === 'here') return answer
  const body = await json(answer.body)
  const [item] = Array.isArray(body) ? (body as Static<typeof BulkItem>[]) : []
  return item ?? { name, state: 'error', ...(body as { error: string }) }
}
