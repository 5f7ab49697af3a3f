// The totals of the outbox, and the ban risk of an account.

import { Type } from 'typebox'
import type { InstanceRegistry } from '../../instances/instance-registry.ts'
import type { Roster } from '../../instances/roster/roster.ts'
import { banRiskLimits } from '../../guard/ban-risk.ts'
import type { BanRisk } from '../../guard/ban-risk.ts'
import type { SendLimits } from '../../guard/send-limits.ts'
import type { Clock } from '../../lib/clock.ts'
import type { OutboxStore } from '../../storage/stores/messages/outbox-store.ts'
import type { SentMessageStore } from '../../storage/stores/messages/sent-message-store.ts'
import type { HttpApp } from '../http-app.ts'
import { InstanceParams, nullable, responses, Timestamp, toTimestamp } from '../schemas.ts'

const nanoseconds = 1_000_000
const dayMs = 86_400_000

export type OutboxDeps = {
  instances: Pick<InstanceRegistry, 'get'>
  roster: Pick<Roster, 'getCurrent'>
  outbox: Pick<OutboxStore, 'totals'>
  sent: Pick<SentMessageStore, 'countFirstContacts'>
  banRisk: Pick<BanRisk, 'snapshot'>
  limits: Pick<SendLimits, 'of'>
  clock: Pick<Clock, 'now'>
}

const OutboxTotals = Type.Object(
  {
    instance: Type.String(),
    pending: Type.Integer(),
    sent: Type.Integer(),
    expired: Type.Integer(),
    failed: Type.Integer(),
    oldest_pending_at: nullable(Timestamp),
  },
  { title: 'OutboxTotals' },
)

const BanRiskBody = Type.Object(
  {
    instance: Type.String(),
    velocity_msgs_per_window: Type.Integer(),
    velocity_threshold: Type.Number(),
    velocity_window_ns: Type.Integer(),
    diversity_unique_jids: Type.Integer(),
    diversity_threshold: Type.Number(),
    diversity_window_ns: Type.Integer(),
    delivery_ratio: Type.Number(),
    delivery_samples: Type.Integer(),
    delivery_threshold: Type.Number(),
    delivery_min_samples: Type.Integer(),
    delivery_window_ns: Type.Integer(),
    alerts: Type.Array(Type.String()),
    score: Type.Number(),
    level: Type.String(),
    first_contacts_24h: Type.Integer({
      description:
        'People to whom the first message of their chat was sent in the last 24 hours; not part of the score',
    }),
    rate_limit_in_force: Type.Integer({ description: 'Messages per minute that it may send now; 0: no limit' }),
    warmup: nullable(
      Type.Object(
        { day: Type.Integer({ description: '1 on the first day' }), days: Type.Integer() },
        { description: 'While the number is new and sends less; null otherwise' },
      ),
    ),
  },
  { title: 'BanRisk' },
)

export function addOutboxRoutes(app: HttpApp, deps: OutboxDeps): void {
  const { instances, roster, outbox, sent, banRisk, limits, clock } = deps
  const about = (operationId: string, summary: string) => ({ operationId, summary, tags: ['observability'] })
  app.get(
    '/api/instances/:name/outbox',
    {
      schema: {
        ...about('getOutbox', 'Messages of the outbox by what became of them, over all history'),
        params: InstanceParams,
        response: responses({ 200: OutboxTotals }, 404),
      },
    },
    async ({ params: { name } }) => {
      await roster.getCurrent(name)
      const { pending, sent, expired, failed, oldestPendingAt } = await outbox.totals(name)
      const oldest_pending_at = oldestPendingAt === null ? null : toTimestamp(oldestPendingAt)
      return { instance: name, pending, sent, expired, failed, oldest_pending_at }
    },
  )
  app.get(
    '/api/instances/:name/ban-risk',
    {
      schema: {
        ...about('getBanRisk', 'How the last minutes of sending look to the network'),
        params: InstanceParams,
        response: responses({ 200: BanRiskBody }, 404),
      },
    },
    async ({ params: { name } }) => {
      instances.get(name)
      const firstContacts = await sent.countFirstContacts(name, clock.now() - dayMs)
      const { perMinute, warmup } = limits.of(name)
      const { velocity, diversity, delivery } = banRiskLimits
      const risk = banRisk.snapshot(name)
      return {
        instance: name,
        velocity_msgs_per_window: risk.velocity,
        velocity_threshold: velocity.threshold,
        velocity_window_ns: velocity.windowMs * nanoseconds,
        diversity_unique_jids: risk.diversity,
        diversity_threshold: diversity.threshold,
        diversity_window_ns: diversity.windowMs * nanoseconds,
        delivery_ratio: risk.ratio,
        delivery_samples: risk.samples,
        delivery_threshold: delivery.threshold,
        delivery_min_samples: delivery.minSamples,
        delivery_window_ns: delivery.windowMs * nanoseconds,
        alerts: risk.alerts,
        score: risk.score,
        level: risk.level,
        first_contacts_24h: firstContacts,
        rate_limit_in_force: perMinute,
        warmup,
      }
    },
  )
}
