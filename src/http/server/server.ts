// Creates the HTTP server: its frame, then the routes.

import { fileURLToPath } from 'node:url'
import { addEntryPages } from './entry-pages.ts'
import { unknownRoute } from './error-reply.ts'
import { addStaticFiles } from './static-files.ts'
import { RouteForwarder } from '../forwarding/route-forwarder.ts'
import type { HttpApp } from '../http-app.ts'
import { ApiToken } from '../session/api-token.ts'
import { DashboardSessions } from '../session/dashboard-sessions.ts'
import { createKnownCallers } from '../session/known-callers.ts'
import { addSessionRoutes } from '../session/session-routes.ts'
import type { Access } from '../session/session-routes.ts'
import { createFrame, newBodyMemory } from './http-frame.ts'
import type { FrameDeps } from './http-frame.ts'
import { watchMethods } from './method-not-allowed.ts'
import { addOpenApi } from './openapi.ts'
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
import { addMessageRoutes } from '../routes/messages.ts'
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

type Deps = Omit<FrameDeps, 'access'> & { routes: ServerRoutes }

const staticFiles = fileURLToPath(new URL('../../../static/', import.meta.url))

export async function createServer(deps: Deps): Promise<HttpApp> {
  const { settings, routes } = deps
  const access = createAccess(deps)
  const app = await createFrame({ ...deps, access })
  const refuseOtherMethods = watchMethods(app)
  await addOpenApi(app, routes.version)
  addSessionRoutes(app, access, deps.clock)
  addHealthRoute(app, routes.health, createKnownCallers(app, access, settings.publicUrl))
  addOperationsRoutes(app, routes.operations)
  addPublicStatsRoutes(app, routes.publicStats)
  const forwarder = deps.forwarding && new RouteForwarder(deps.forwarding)
  addInstanceRoutes(app, routes.instances, forwarder)
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
  addMessageRoutes(app, routes.messages, newBodyMemory(deps))
  addDirectMessageRoutes(app, routes.directMessages)
  addOutboxRoutes(app, routes.outbox)
  addOutboxMessageRoutes(app, routes.outbox)
  addHistoryRoutes(app, routes.history)
  addJobRoutes(app, routes.jobs, forwarder)
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
