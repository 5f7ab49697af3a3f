// GET /api/health: whether the service works, and what is wrong when it does not.

import { Type } from 'typebox'
import type { LostCallbacks } from '../../bridge/conversations/lost-callbacks.ts'
import type { HeldDestinations } from '../../bridge/inbound/held-destinations.ts'
import type { InboxWorker } from '../../bridge/inbound/inbox-worker.ts'
import type { ClientVersionState } from '../../core/network.ts'
import type { InstanceRegistry } from '../../instances/instance-registry.ts'
import type { PendingLogouts } from '../../instances/pending-logouts.ts'
import type { Clock } from '../../lib/clock.ts'
import type { ExhaustedDeliveries } from '../../lifecycle/exhausted-deliveries.ts'
import type { Ticker } from '../../lib/ticker.ts'
import type { DatabaseProbe } from '../../storage/database-probe.ts'
import type { SetupFindings } from '../../setup/checks/setup-findings.ts'
import type { HttpApp } from '../http-app.ts'
import type { ClockDifferences } from '../webhook/clock-differences.ts'
import { nullable, Timestamp, toTimestamp } from '../schemas.ts'

export type HealthDeps = {
  version: string
  clock: Clock
  database: Pick<DatabaseProbe, 'state'>
  instances: Pick<InstanceRegistry, 'list' | 'counts'>
  workers: readonly Pick<Ticker, 'name' | 'failure'>[]
  /** `held`, or why this process does not act. */
  ownership: () => string
  outboxPending: () => number
  inbound: Pick<InboxWorker, 'counts'>
  held: Pick<HeldDestinations, 'list'>
  lostCallbacks: Pick<LostCallbacks, 'list'>
  clocks: Pick<ClockDifferences, 'list'>
  pendingLogouts: Pick<PendingLogouts, 'count'>
  exhausted: Pick<ExhaustedDeliveries, 'count'>
  setup: Pick<SetupFindings, 'list'>
  clientVersion: () => ClientVersionState
}

const Health = Type.Object(
  {
    status: Type.Union([Type.Literal('ok'), Type.Literal('degraded')]),
    version: Type.String(),
    ts: Timestamp,
    uptime_seconds: Type.Integer(),
    checks: Type.Object({
      db: Type.Object({
        ok: Type.Boolean(),
        latency_ms: Type.Integer({ description: 'How long the last question to the database took' }),
        age_ms: Type.Integer({ description: 'How long ago the database answered last' }),
      }),
      instances_connected: Type.Integer(),
      instances_total: Type.Integer(),
      outbox_pending: Type.Integer(),
      inbox_pending: Type.Integer({ description: 'Received messages that the helpdesk does not have yet' }),
      inbox_parked: Type.Integer({ description: 'Received messages that were set aside' }),
      destinations_held: Type.Array(
        Type.Object({ destination: Type.String(), reason: Type.String(), since: Timestamp }),
        { description: 'Helpdesks that take nothing at the moment; messages for them wait' },
      ),
      callbacks_lost: Type.Array(
        Type.Object({ destination: Type.String(), reason: Type.String(), advice: Type.String(), since: Timestamp }),
        { description: 'Helpdesks that cannot deliver their callbacks to us; answers of agents there are not sent' },
      ),
      clocks_differ: Type.Array(
        Type.Object({ instance: Type.String(), helpdesk_ahead_seconds: Type.Integer(), since: Timestamp }),
        { description: 'Instances whose callbacks are refused because the clock of the helpdesk differs from ours' },
      ),
      pending_logouts: Type.Integer({
        description: 'Logouts that WhatsApp has not confirmed yet',
      }),
      deliveries_exhausted: Type.Integer({
        description:
          'Lifecycle events of the last day that no attempt could deliver: see the deliveries of the instances',
      }),
      setup: Type.Array(
        Type.Object({
          destination: nullable(Type.String({ description: 'The helpdesk inbox; null for the service itself' })),
          name: Type.String({ description: 'The name of the check' }),
          sentence: Type.String(),
          cure: Type.String(),
          since: Timestamp,
        }),
        { description: 'Checks of the set-up that fail: see GET /api/instances/:name/check' },
      ),
      network_version: Type.Object(
        {
          current: Type.String(),
          worked: nullable(Type.String({ description: 'The last version that logged an account in' })),
          pinned: Type.Boolean({ description: 'SERVICE_NETWORK_VERSION sets the version' }),
          refused: Type.Boolean({ description: 'WhatsApp refused the current version when it was last used' }),
          asked_at: nullable(Timestamp),
        },
        { description: 'The client version that the service introduces itself with to WhatsApp' },
      ),
      workers_failed: Type.Array(Type.String(), { description: 'Background workers whose last run failed' }),
      ownership: Type.String({
        description: 'held, or why this process does not act: starting, standby, uncertain, lost',
      }),
    }),
    instances: Type.Array(Type.Object({ name: Type.String(), state: Type.String(), jid: nullable(Type.String()) })),
  },
  { title: 'Health' },
)

export function addHealthRoute(app: HttpApp, deps: HealthDeps): void {
  const { clock, version } = deps
  const startedAt = clock.monotonic()
  app.get(
    '/api/health',
    {
      config: { public: true, unlimited: true },
      schema: {
        operationId: 'getHealth',
        tags: ['operations'],
        summary: 'Health of the service, from memory: the database is asked every second in the background',
        description:
          '503 only when the database does not answer within 2 s; anything else that is wrong is 200 with status degraded.',
        response: { 200: Health, 503: Health },
      },
    },
    async (_request, reply) => {
      const db = deps.database.state
      const { active, total } = deps.instances.counts()
      const workersFailed = deps.workers.filter(({ failure }) => failure).map(({ name }) => name)
      const inbox = deps.inbound.counts()
      const held = deps.held.list()
      const lost = deps.lostCallbacks.list()
      const clocks = deps.clocks.list()
      const exhausted = deps.exhausted.count
      const setup = deps.setup.list()
      const isFlowing = [held, lost, clocks, setup].every(({ length }) => length === 0) && inbox.parked === 0
      const sane = db.ok && workersFailed.length === 0 && deps.ownership() === 'held' && isFlowing && exhausted === 0
      return reply.code(db.ok ? 200 : 503).send({
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
          clocks_differ: clocks.map(({ instance, aheadMs, since }) => ({
            instance,
            helpdesk_ahead_seconds: Math.round(aheadMs / 1000),
            since: toTimestamp(since),
          })),
          pending_logouts: deps.pendingLogouts.count,
          deliveries_exhausted: exhausted,
          setup: setup.map((each) => ({ ...each, since: toTimestamp(each.since) })),
          network_version: toNetworkVersion(deps.clientVersion()),
          workers_failed: workersFailed,
          ownership: deps.ownership(),
        },
        instances: deps.instances.list().map(({ record: { name, state, jid } }) => ({ name, state, jid })),
      })
    },
  )
}

function toNetworkVersion({ current, worked, isPinned, isRefused, askedAt }: ClientVersionState) {
  const asked_at = askedAt === null ? null : toTimestamp(askedAt)
  return { current, worked, pinned: isPinned, refused: isRefused, asked_at }
}
