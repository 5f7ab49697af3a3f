// GET /api/health: whether the service works, and what is wrong when it does not.

import type { FastifyRequest } from 'fastify'
import type { Static } from 'typebox'
import type { LostCallbacks } from '../../bridge/conversations/lost-callbacks.ts'
import type { HeldDestinations } from '../../bridge/inbound/held-destinations.ts'
import type { InboxWorker } from '../../bridge/inbound/inbox-worker.ts'
import type { ClientVersionState } from '../../core/network.ts'
import type { PendingLogouts } from '../../instances/pending-logouts.ts'
import type { Reachability } from '../../instances/reachability.ts'
import type { Roster } from '../../instances/roster/roster.ts'
import type { Clock } from '../../lib/clock.ts'
import type { ExhaustedDeliveries } from '../../lifecycle/exhausted-deliveries.ts'
import type { Ticker } from '../../lib/ticker.ts'
import type { DatabaseProbe } from '../../storage/database-probe.ts'
import type { SetupFindings } from '../../setup/checks/setup-findings.ts'
import type { HttpApp } from '../http-app.ts'
import type { CallbackRefusals } from '../webhook/callback-refusals.ts'
import type { ClockDifferences } from '../webhook/clock-differences.ts'
import { toTimestamp } from '../schemas.ts'
import { Health, toNodeFields, withoutNames } from './health-schema.ts'
import type { NodesShown } from './health-schema.ts'

export type HealthDeps = {
  version: string
  /** Who sees names: everybody, or only callers with the token. */
  details: 'public' | 'token'
  clock: Clock
  database: Pick<DatabaseProbe, 'state'>
  roster: Pick<Roster, 'list' | 'counts' | 'freshen'>
  nodes: {
    /** Undefined while there is one node. */
    shown: () => NodesShown | undefined
    freshen: () => Promise<void>
  }
  workers: readonly Pick<Ticker, 'name' | 'failure'>[]
  /** `held`, or why this process does not act. */
  ownership: () => string
  outboxPending: () => number
  inbound: Pick<InboxWorker, 'counts'>
  held: Pick<HeldDestinations, 'list'>
  lostCallbacks: Pick<LostCallbacks, 'list'>
  clocks: Pick<ClockDifferences, 'list'>
  refusals: Pick<CallbackRefusals, 'list'>
  reachability: Pick<Reachability, 'list' | 'isSharedWayAway'>
  pendingLogouts: Pick<PendingLogouts, 'count'>
  exhausted: Pick<ExhaustedDeliveries, 'count'>
  setup: Pick<SetupFindings, 'list'>
  clientVersion: () => ClientVersionState
}

/** `isKnownCaller` tells who may see names. */
export function addHealthRoute(
  app: HttpApp,
  deps: HealthDeps,
  isKnownCaller: (request: FastifyRequest) => Promise<boolean>,
): void {
  const readHealth = createHealthReader(deps)
  app.get(
    '/api/health',
    {
      config: { public: true, unlimited: true },
      schema: {
        operationId: 'getHealth',
        tags: ['operations'],
        summary: 'Health of the service, from memory: the database is asked every second in the background',
        description:
          '503 only when the database does not answer within 2 s; anything else that is wrong is 200 with status degraded. ' +
          'With SERVICE_HEALTH_DETAILS=token, callers without the token get no names; a wrong token is no error. ' +
          'With several nodes, each answers with its own checks, and with all instances and nodes as they were a second ago.',
        response: { 200: Health, 503: Health },
      },
    },
    async (request, reply) => {
      const isFull = deps.details === 'public' || (await isKnownCaller(request))
      // The answer depends on who asks, so no cache may pass it on.
      if (deps.details === 'token') void reply.header('cache-control', 'no-store')
      // While the database is away, the last states are shown at once.
      if (deps.database.state.ok) await Promise.all([deps.roster.freshen(), deps.nodes.freshen()])
      const health = readHealth()
      return reply.code(deps.database.state.ok ? 200 : 503).send(isFull ? health : withoutNames(health))
    },
  )
}

/** The uptime counts from this call. */
export function createHealthReader(deps: HealthDeps): () => Static<typeof Health> {
  const { clock, version } = deps
  const startedAt = clock.monotonic()
  return () => {
    const db = deps.database.state
    const { active, total } = deps.roster.counts()
    const workersFailed = deps.workers.filter(({ failure }) => failure).map(({ name }) => name)
    const inbox = deps.inbound.counts()
    const held = deps.held.list()
    const lost = deps.lostCallbacks.list()
    const clocks = deps.clocks.list()
    const refused = deps.refusals.list()
    const unreachable = deps.reachability.list()
    const exhausted = deps.exhausted.count
    const setup = setupProblems(deps)
    const shown = deps.nodes.shown()
    const nodeFields = shown && toNodeFields(shown)
    const faults = [held, lost, clocks, refused, unreachable, setup, nodeFaults(shown)]
    const isFlowing = inbox.parked === 0 && exhausted === 0 && faults.every(({ length }) => length === 0)
    const sane = db.ok && workersFailed.length === 0 && deps.ownership() === 'held' && isFlowing
    return {
      status: sane ? 'ok' : 'degraded',
      version,
      ts: toTimestamp(clock.now()),
      uptime_seconds: Math.floor((clock.monotonic() - startedAt) / 1000),
      checks: {
        db: { ok: db.ok, latency_ms: db.latencyMs, age_ms: db.ageMs },
        instances_connected: active,
        instances_total: total,
        outbox_pending: deps.outboxPending(),
        inbox_pending: inbox.pending,
        inbox_parked: inbox.parked,
        destinations_held: held.map((each) => ({ ...each, since: toTimestamp(each.since) })),
        callbacks_lost: lost.map((each) => ({ ...each, since: toTimestamp(each.since) })),
        clocks_differ: clocks.map(({ instance, aheadMs, cure, since }) => ({
          instance,
          helpdesk_ahead_seconds: Math.round(aheadMs / 1000),
          cure,
          since: toTimestamp(since),
        })),
        callbacks_refused: refused.map((each) => ({ ...each, since: toTimestamp(each.since) })),
        network_unreachable: unreachable.map((each) => ({ ...each, since: toTimestamp(each.since) })),
        pending_logouts: deps.pendingLogouts.count,
        deliveries_exhausted: exhausted,
        setup: setup.map((each) => ({ ...each, since: toTimestamp(each.since) })),
        network_version: toNetworkVersion(deps.clientVersion()),
        workers_failed: workersFailed,
        ownership: deps.ownership(),
        ...nodeFields?.checks,
      },
      instances: deps.roster.list().map(({ record: { name, state, jid } }) => ({ name, state, jid })),
      ...(nodeFields && { nodes: nodeFields.nodes }),
    }
  }
}

/** What is wrong with the nodes together. */
function nodeFaults(shown: NodesShown | undefined): unknown[] {
  if (!shown) return []
  const differing = shown.nodes.filter(({ settingsDiffer }) => settingsDiffer)
  return [...shown.quarantined, ...differing, ...(shown.setBackAt === null ? [] : [shown.setBackAt])]
}

/** An outage that `network_unreachable` names is not told a second time. */
export function setupProblems({ setup, reachability }: Pick<HealthDeps, 'setup' | 'reachability'>) {
  return setup.list().filter(({ name }) => name !== 'whatsapp_reachable' || !reachability.isSharedWayAway)
}

function toNetworkVersion({ current, worked, isPinned, isRefused, askedAt }: ClientVersionState) {
  const asked_at = askedAt === null ? null : toTimestamp(askedAt)
  return { current, worked, pinned: isPinned, refused: isRefused, asked_at }
}
