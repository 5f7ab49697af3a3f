// The measured side of the lifecycle benchmark: events stored durably and brought to their subscribers, as the service does it.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock as clock, sleep } from '../src/lib/clock.ts'
import { Egress } from '../src/lib/egress/egress.ts'
import { privateAllowed } from '../src/lib/egress/policy.ts'
import { createLog } from '../src/lib/log.ts'
import { Announcer } from '../src/lifecycle/announcer.ts'
import { Courier } from '../src/lifecycle/courier.ts'
import { createDelivery } from '../src/lifecycle/deliver-once.ts'
import { ExhaustedDeliveries } from '../src/lifecycle/exhausted-deliveries.ts'
import { Lifecycle } from '../src/lifecycle/lifecycle.ts'
import { openDatabase } from '../src/storage/database.ts'
import { DeliveryStore } from '../src/storage/stores/ledger/delivery-store.ts'
import { blankInstance } from '../src/storage/stores/accounts/instance-rows.ts'
import { allDuties } from '../test/harness/duties.ts'
import { serveParent } from './child.ts'

type Round = { urls: string[]; events: number; everyMs: number }

async function open(stack: AsyncDisposableStack): Promise<{ lifecycle: Lifecycle; deliveries: DeliveryStore }> {
  const directory = await mkdtemp(join(tmpdir(), 'causeway-bench-'))
  stack.defer(() => rm(directory, { recursive: true }))
  const log = createLog({ level: 'info', format: 'json' })
  const location = { engine: 'sqlite' as const, path: join(directory, 'data', 'service.db') }
  const deliveries = new DeliveryStore(stack.use(await openDatabase({ location, encryptionKeys: [], log })))
  const egress = stack.use(new Egress({ policy: privateAllowed, clock }))
  const deliver = createDelivery({ egress, clock, timeoutMs: 10_000, secret: Buffer.alloc(32, 1) })
  const none = () => undefined
  const courier = stack.use(
    new Courier({ deliveries, deliver, duties: allDuties, clock, random: Math.random, log, onEnded: none }),
  )
  const announcer = new Announcer({ version: '0.0.0', clock })
  const exhausted = new ExhaustedDeliveries({ deliveries, duties: allDuties, clock })
  const lifecycle = new Lifecycle({ announcer, courier, deliveries, exhausted, clock, log, onAnnounced: none })
  return { lifecycle, deliveries }
}

const desk = {
  /** Announces at a steady pace; resolves when the healthy subscribers have everything. */
  run: async ({ urls, events, everyMs }: Round): Promise<void> => {
    await using stack = new AsyncDisposableStack()
    const { lifecycle, deliveries } = await open(stack)
    const eventsWebhookSubscribers = urls.map((url) => ({ url, events: [] }))
    const instance = { ...blankInstance('bench', clock.now()), eventsWebhookSubscribers }
    const healthy = new Set(urls.slice(2))
    for (let sent = 0; sent < events; sent++) {
      void lifecycle.announce(instance, 'connected')
      await sleep(clock, everyMs)
    }
    const isUnderWay = async () => (await deliveries.pending('all')).some(({ url }) => healthy.has(url))
    while (await isUnderWay()) await sleep(clock, 100)
  },
}

export type SenderDesk = typeof desk

serveParent(desk)
