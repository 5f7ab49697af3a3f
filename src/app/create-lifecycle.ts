// Creates the lifecycle room: the parts that announce events, deliver them and count them.

import type { LiveChanges } from '../core/live.ts'
import type { Duties } from '../core/nodes/duties.ts'
import type { Metrics } from '../ledger/metrics.ts'
import type { Usage } from '../ledger/usage.ts'
import { Egress } from '../lib/egress/egress.ts'
import { privateAllowed } from '../lib/egress/policy.ts'
import type { Database } from '../storage/database.ts'
import { DeliveryStore } from '../storage/stores/ledger/delivery-store.ts'
import { Announcer } from '../lifecycle/announcer.ts'
import type { Announcement } from '../lifecycle/announcer.ts'
import { Courier } from '../lifecycle/courier.ts'
import { createDelivery } from '../lifecycle/deliver-once.ts'
import { ExhaustedDeliveries } from '../lifecycle/exhausted-deliveries.ts'
import { Lifecycle } from '../lifecycle/lifecycle.ts'
import type { Base } from './base.ts'

type Parts = {
  database: Database
  duties: Duties
  metrics: Metrics
  usage: Usage
  events: { onAnnounced(announcement: Announcement): void }
  live: Pick<LiveChanges, 'deliveryEnded'>
}

export function createLifecycle({ config, clock, log, build, stack }: Base, parts: Parts) {
  const { database, duties, metrics, usage, events, live } = parts
  const { timeout: timeoutMs, secret } = config.lifecycle
  const deliveries = new DeliveryStore(database)
  const exhausted = new ExhaustedDeliveries({ deliveries, duties, clock })
  const egress = stack.use(new Egress({ policy: privateAllowed, clock }))
  const courier = stack.use(
    new Courier({
      deliveries,
      deliver: createDelivery({ egress, clock, timeoutMs, secret }),
      duties,
      clock,
      random: Math.random,
      log,
      onEnded: (delivery, { status, attempts }) => {
        const { id, instance, event } = delivery
        live.deliveryEnded({ id, instance, event, status, attempts })
        if (status === 'exhausted' || status === 'dropped') exhausted.add(delivery)
        if (status === 'dropped') metrics.lifecycleDropped.inc({ event })
        else if (attempts > 1) {
          metrics.lifecycleRetries.inc({ event, outcome: status === 'delivered' ? 'success' : 'exhausted' })
        }
      },
    }),
  )
  const lifecycle = new Lifecycle({
    announcer: new Announcer({ version: build.version, clock }),
    courier,
    deliveries,
    exhausted,
    clock,
    log,
    onAnnounced: (announcement) => {
      const { event, instance, ownerTag } = announcement
      events.onAnnounced(announcement)
      metrics.lifecycleEvents.inc({ instance, event, owner_tag: ownerTag })
      usage.count(instance, ownerTag, 'lifecycle_events')
    },
  })
  return { lifecycle, courier, deliveries, exhausted }
}
