// Creates the HTTP server: limits first, then authentication, then the routes.

import { fileURLToPath } from 'node:url'
import rateLimit from '@fastify/rate-limit'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import { fastify, LogController } from 'fastify'
import type { FastifyBaseLogger, FastifyRequest } from 'fastify'
import { BridgeError } from '../../core/errors.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import { createAuthentication } from './auth.ts'
import { BodyMemory } from '../body-memory.ts'
import { answerClientError } from './client-error.ts'
import { limitConnections, limitReading } from './connection-limit.ts'
import { addEntryPages, entryPaths } from './entry-pages.ts'
import { replyWithError, replyWithRouterError, unknownRoute } from './error-reply.ts'
import { addStaticFiles } from './static-files.ts'
import type { HttpApp } from '../http-app.ts'
import { ApiToken } from '../session/api-token.ts'
import { DashboardSessions } from '../session/dashboard-sessions.ts'
import { createKnownCallers } from '../session/known-callers.ts'
import { addSessionRoutes } from '../session/session-routes.ts'
import type { Access } from '../session/session-routes.ts'
import { addBodyParser, forgetContentType } from '../json-body.ts'
import { watchMethods } from './method-not-allowed.ts'
import { addOpenApi } from './openapi.ts'
import { refuseOddTexts } from './odd-texts.ts'
import { refuseOnOverload } from './overload.ts'
import { addSecurityHeaders } from './security-headers.ts'
import type { StartGate } from './start-gate.ts'
import { addRequestContext, requestIdOf } from './request-context.ts'
import { compilersFactory } from './schema-compilers.ts'
import { addAuditRoute } from '../routes/audit.ts'
import type { AuditDeps } from '../routes/audit.ts'
import { addAvatarRoutes } from '../routes/avatars.ts'
import type { AvatarDeps } from '../routes/avatars.ts'
import { addContactsImportRoute } from '../routes/contacts/contacts-import.ts'
import type { ContactsImportDeps } from '../routes/contacts/contacts-import.ts'
import { addContactsRepairRoute } from '../routes/contacts/contacts-repair.ts'
import type { ContactsRepairDeps } from '../routes/contacts/contacts-repair.ts'
import { addDeliveryRoutes } from '../routes/deliveries.ts'
import type { DeliveryDeps } from '../routes/deliveries.ts'
import { addGroupRoutes } from '../routes/groups.ts'
import type { GroupDeps } from '../routes/group-schemas.ts'
import { addHealthRoute } from '../routes/health.ts'
import type { HealthDeps } from '../routes/health.ts'
import { addHistoryRoutes } from '../routes/history.ts'
import type { HistoryDeps } from '../routes/history.ts'
import { addInstanceRoutes } from '../routes/instances.ts'
import type { InstanceDeps } from '../routes/instances.ts'
import { addAdoptRoutes } from '../routes/contacts/adopt.ts'
import type { AdoptDeps } from '../routes/contacts/adopt.ts'
import { addJobRoutes } from '../routes/jobs.ts'
import type { JobDeps } from '../routes/jobs.ts'
import { addDirectMessageRoutes } from '../routes/direct/direct-messages.ts'
import { addOutboxMessageRoutes } from '../routes/direct/outbox-message.ts'
import type { OutboxMessageDeps } from '../routes/direct/outbox-message.ts'
import type { DirectMessageDeps } from '../routes/direct/direct-messages.ts'
import { addMessageRoutes, largestBody } from '../routes/messages.ts'
import type { MessageDeps } from '../routes/messages.ts'
import { addObserveRoutes } from '../routes/observe/observe.ts'
import type { ObserveDeps } from '../routes/observe/observe.ts'
import { addOperateRoutes } from '../routes/operate/operate.ts'
import type { OperateDeps } from '../routes/operate/operate.ts'
import { addOutboxRoutes } from '../routes/outbox.ts'
import type { OutboxDeps } from '../routes/outbox.ts'
import { addOperationsRoutes } from '../routes/operations.ts'
import type { OperationsDeps } from '../routes/operations.ts'
import { addCheckRoutes } from '../routes/check.ts'
import type { CheckDeps } from '../routes/check.ts'
import { addNumberRoutes } from '../routes/numbers.ts'
import type { NumberDeps } from '../routes/numbers.ts'
import { addNamesRoutes } from '../routes/names.ts'
import type { NamesDeps } from '../routes/names.ts'
import { addParkedRoutes } from '../routes/parked.ts'
import type { ParkedDeps } from '../routes/parked.ts'
import { addPairingRoutes } from '../routes/pairing.ts'
import type { PairingDeps } from '../routes/pairing.ts'
import { addPublicStatsRoutes } from '../routes/public-stats.ts'
import type { PublicStatsDeps } from '../routes/public-stats.ts'
import { addSetupRoutes } from '../routes/setup.ts'
import type { SetupDeps } from '../routes/setup.ts'
import { addTenantRoutes } from '../routes/tenants.ts'
import type { TenantDeps } from '../routes/tenants.ts'
import { addUsageRoutes } from '../routes/usage.ts'
import type { UsageDeps } from '../routes/usage.ts'

type ServerSettings = {
  apiToken: string
  publicUrl: string | null
  bodyLimit: number
  /** Open connections at once. */
  maxConnections: number
  /** Requests per minute and client address; 0 is no limit. */
  rateLimit: number
  trustProxy: boolean
}

export type ServerRoutes = {
  version: string
  health: HealthDeps
  operations: OperationsDeps
  publicStats: PublicStatsDeps
  instances: InstanceDeps
  setup: SetupDeps
  pairing: PairingDeps
  check: CheckDeps
  parked: ParkedDeps
  names: NamesDeps
  numbers: NumberDeps
  avatars: AvatarDeps
  tenants: TenantDeps
  usage: UsageDeps
  audit: AuditDeps
  deliveries: DeliveryDeps
  groups: GroupDeps
  messages: MessageDeps
  directMessages: DirectMessageDeps
  outbox: OutboxDeps & OutboxMessageDeps
  history: HistoryDeps
  jobs: JobDeps
  contactsImport: ContactsImportDeps
  contactsRepair: ContactsRepairDeps
  adopt: AdoptDeps
  observe: ObserveDeps
  operate: OperateDeps
}

type Deps = {
  settings: ServerSettings
  clock: Clock
  log: Log
  /** Until the service serves, only health, metrics and static files answer at once. */
  gate: StartGate
  routes: ServerRoutes
}

const staticFiles = fileURLToPath(new URL('../../../static/', import.meta.url))

export async function createServer(deps: Deps): Promise<HttpApp> {
  const { settings, routes } = deps
  const loggerInstance: FastifyBaseLogger = deps.log
  const app = fastify({
    loggerInstance,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'request_id' }),
    bodyLimit: settings.bodyLimit,
    // One hop: the entry of the proxy in front of us. The entries before it come from the client and prove nothing.
    trustProxy: settings.trustProxy && ((_address: string, hop: number) => hop === 0),
    genReqId: requestIdOf,
    routerOptions: { maxParamLength: 512 },
    requestTimeout: 10_000,
    http: { headersTimeout: 8000, connectionsCheckingInterval: 1000 },
    clientErrorHandler: answerClientError,
    frameworkErrors: replyWithRouterError,
    return503OnClosing: false,
    // No coercion: a wrong type is an error. Verbose for readable messages.
    ajv: { customOptions: { coerceTypes: false, removeAdditional: false, verbose: true } },
    schemaController: { compilersFactory },
  }).withTypeProvider<TypeBoxTypeProvider>()
  app.setErrorHandler(replyWithError)
  addRequestContext(app)
  // Callbacks need no token, so their bodies take no room from requests that have one.
  const newBodyMemory = () => new BodyMemory({ clock: deps.clock, largestBody: largestBody(settings.bodyLimit) })
  const access = createAccess(deps)
  await addProtection(app, { ...deps, access }, newBodyMemory())
  addBodyParser(app)
  refuseOddTexts(app)
  const refuseOtherMethods = watchMethods(app)
  await addOpenApi(app, routes.version)
  addSessionRoutes(app, access, deps.clock)
  addHealthRoute(app, routes.health, createKnownCallers(app, access, settings.publicUrl))
  addOperationsRoutes(app, routes.operations)
  addPublicStatsRoutes(app, routes.publicStats)
  addInstanceRoutes(app, routes.instances)
  addSetupRoutes(app, routes.setup)
  addPairingRoutes(app, routes.pairing)
  addCheckRoutes(app, routes.check)
  addParkedRoutes(app, routes.parked)
  addNamesRoutes(app, routes.names)
  addNumberRoutes(app, routes.numbers)
  addAvatarRoutes(app, routes.avatars)
  addTenantRoutes(app, routes.tenants)
  addUsageRoutes(app, routes.usage)
  addAuditRoute(app, routes.audit)
  addDeliveryRoutes(app, routes.deliveries)
  addGroupRoutes(app, routes.groups)
  addMessageRoutes(app, routes.messages, newBodyMemory())
  addDirectMessageRoutes(app, routes.directMessages)
  addOutboxRoutes(app, routes.outbox)
  addOutboxMessageRoutes(app, routes.outbox)
  addHistoryRoutes(app, routes.history)
  addJobRoutes(app, routes.jobs)
  addContactsImportRoute(app, routes.contactsImport)
  addContactsRepairRoute(app, routes.contactsRepair)
  addAdoptRoutes(app, routes.adopt)
  addObserveRoutes(app, routes.observe, ({ dashboardSession: session }, over) =>
    session && access ? access.sessions.watch(session, over) : () => undefined,
  )
  addOperateRoutes(app, routes.operate)
  addEntryPages(app, staticFiles)
  await addStaticFiles(app, staticFiles)
  refuseOtherMethods()
  app.setNotFoundHandler(() => {
    throw unknownRoute()
  })
  return app
}

function createAccess({ settings, clock }: Deps): Access {
  if (settings.apiToken === '') return null
  const token = new ApiToken(settings.apiToken)
  return { token, sessions: new DashboardSessions({ key: token.sessionKey, clock }) }
}

type Protection = Pick<Deps, 'settings' | 'gate'> & { access: Access }

async function addProtection(app: HttpApp, { settings, gate, access }: Protection, bodies: BodyMemory): Promise<void> {
  limitConnections(app.server, settings.maxConnections)
  app.addHook('onSend', (_request, reply, payload, done) => {
    limitReading(reply.raw)
    done(null, payload)
  })
  addSecurityHeaders(app)
  refuseOnOverload(app, isUnlimited)
  if (settings.rateLimit > 0) {
    await app.register(rateLimit, {
      max: settings.rateLimit,
      timeWindow: 60_000,
      allowList: isUnlimited,
      errorResponseBuilder: () =>
        new BridgeError('SERVICE_RATE_LIMITED', `more than ${settings.rateLimit} requests a minute from this address`),
    })
    // The plugin limits routes only; unknown paths must be limited too, or tokens could be guessed there.
    const limit = app.rateLimit()
    app.addHook('onRequest', async (request, reply) => {
      if (request.is404) await limit.call(app, request, reply)
    })
  }
  const authenticate = createAuthentication(app, access, settings.publicUrl)
  // After the onRequest hooks, so that guessing tokens counts against the rate limit.
  // The body is read after the gate: of a request that is held, memory keeps what Node has read ahead, 64 KB at most.
  app.decorateRequest('heldMs', 0)
  app.addHook('preParsing', async (request, reply) => {
    authenticate(request, reply)
    if (!isServedInStandby(request)) await gate.pass(request, reply)
    forgetContentType(request)
    // The webhook waits for room instead, after it has looked at the headers.
    if (!request.routeOptions.config.rawBody) bodies.admit(request, reply)
  })
  app.addHook('preClose', (done) => {
    gate.close()
    done()
  })
}

function isUnlimited(request: FastifyRequest): boolean {
  return request.routeOptions.config.unlimited === true
}

function isServedInStandby(request: FastifyRequest): boolean {
  const isProbe = isUnlimited(request) && request.method !== 'POST'
  const { url = '' } = request.routeOptions
  return isProbe || url.startsWith('/static/') || entryPaths.includes(url)
}
