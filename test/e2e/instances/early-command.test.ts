// Commands that come while a service starts: they pass when the routes open, and wait for the boot of their account.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SimNetwork } from '../../../sim/network/sim-network.ts'
import { child } from '../../../sim/network/wire/stanza.ts'
import { createApp } from '../../../src/app/app.ts'
import { loadConfig } from '../../../src/config/config.ts'
import type { EngineName } from '../../../src/storage/database.ts'
import { LeaseStore } from '../../../src/storage/stores/lease-store.ts'
import { engines, migratedLocation } from '../../harness/databases.ts'
import { FastClock } from '../../harness/fast-clock.ts'
import { requestFrom } from '../../harness/http-request.ts'
import { seedLinked } from '../../harness/linked-seed.ts'
import { RecordedLog } from '../../harness/logs.ts'
import { apiToken, networkEnvironment } from '../../harness/service.ts'
import { openTestConnection } from '../../harness/test-connection.ts'
import { waitUntil } from '../../harness/wait-until.ts'

const before = 'a process before'

/** An account is linked, and a service waits for the lease of the process before. */
async function starting(engine: EngineName) {
  await using stack = new AsyncDisposableStack()
  const network = stack.use(await SimNetwork.start())
  const { location, url } = stack.use(await migratedLocation(engine))
  const database = stack.use(await openTestConnection(location))
  await seedLinked(database, network, 1)
  const leases = new LeaseStore(database)
  const epoch = (await leases.acquire(before, 60_000)) ?? 0
  const place = { PORT: '0', HOST: '127.0.0.1', DATABASE_URL: url, SERVICE_API_TOKEN: apiToken }
  const logs = new RecordedLog()
  // The start holds requests for 3.5 s on this clock. A busy machine may need longer to start.
  const overrides = { log: logs.log, clock: new FastClock(0.1) }
  const app = stack.use(await createApp(loadConfig({ ...place, ...networkEnvironment(network) }), overrides))
  const started = app.start()
  started.catch(() => undefined)
  const isWaiting = () => logs.withMessage('another process owns the accounts, waiting').length > 0
  await waitUntil('the service waits for the lease', isWaiting)
  const [listening] = logs.withMessage('http listening')
  const owned = stack.move()
  return {
    ...{ app, network, url: String(listening?.['url']) },
    goOn: async () => {
      await leases.release(before, epoch)
      await started
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

for (const engine of engines) {
  test(`a restart that comes while the service starts opens one connection, on ${engine}`, async () => {
    await using service = await starting(engine)
    const { app, network, url } = service
    let replaced = 0
    network.log.subscribe(({ direction, tag, node }) => {
      if (direction === 'out' && tag === 'stream:error' && child(node, 'conflict')) replaced++
    })
    const answer = requestFrom(url, 'POST', '/api/instances/n0/restart', { token: apiToken })
    await service.goOn()
    assert.equal((await answer).status, 200)
    await waitUntil('the account is ready', () => app.instances.get('n0').state === 'ready')
    assert.equal(replaced, 0)
  })
}
