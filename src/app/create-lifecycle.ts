// Builds the lifecycle room: who announces, who delivers, and what is counted.

import type { Metrics } from '../ledger/metrics.ts'
import type { Usage } from '../ledger/usage.ts'
import type { Clock } from '../lib/clock.ts'
import { Egress } from '../lib/egress/egress.ts'
import { privateAllowed } from '../lib/egress/policy.ts'
import type { Log } from '../lib/log.ts'
import type { Database } from '../storage/database.ts'
import { DeliveryStore } from '../storage/stores/ledger/delivery-store.ts'
import { Announcer } from '../lifecycle/announcer.ts'
import type { Announcement } from '../lifecycle/announcer.ts'
import { Courier } from '../lifecycle/courier.ts'
import { createDelivery } from '../lifecycle/deliver-once.ts'
import { Lifecycle } from '../lifecycle/lifecycle.ts'

type Deps = {
  settings: { timeout: number; secret: Uint8Array | null }
  version: string
  database: Database
  metrics: Metrics
  usage: Usage
  clock: Clock
  log: Log
  stack: AsyncDisposableStack
  alsoTold: (announcement: Announcement) => void
}

export function createLifecycle(deps: Deps) {
  const { settings, version, database, metrics, usage, clock, log, stack, alsoTold } = deps
  const deliveries = new DeliveryStore(database)
  const egress = stack.use(new Egress({ policy: privateAllowed, clock }))
  const courier = stack.use(
    new Courier({
      deliveries,
      deliver: createDelivery({ egress, clock, timeoutMs: settings.timeout, secret: settings.secret }),
      clock,
      random: Math.random,
      log,
      onEnded: (event, { status, attempts }) => {
        if (status === 'dropped') metrics.lifecycleDropped.inc({ event })
        else if (attempts > 1) {
          metrics.lifecycleRetries.inc({ event, outcome: status === 'delivered' ? 'success' : 'exhausted' })
        }
      },
    }),
  )
  const lifecycle = new Lifecycle({
    announcer: new Announcer({ version, clock }),
    courier,
    deliveries,
    clock,
    log,
    onAnnounced: (announcement) => {
      const { event, instance, ownerTag } = announcement
      alsoTold(announcement)
      metrics.lifecycleEvents.inc({ instance, event, owner_tag: ownerTag })
      usage.count(instance, ownerTag, 'lifecycle_events')
    },
  })
  return { lifecycle, courier, deliveries }
}
