// The metrics that alerts depend on tell the truth.

import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { thisMachine } from '../../src/setup/checks/machine.ts'
import { JournalStore } from '../../src/storage/stores/messages/journal-store.ts'
import { AgentWorld } from '../harness/agent-world.ts'
import { migratedLocation, withoutPostgres } from '../harness/databases.ts'
import { Bystander } from '../harness/postgres-bystander.ts'
import { sampleEvent, sampleInstanceColumns } from '../harness/samples.ts'
import { ServiceProcess } from '../harness/service-process.ts'
import { Service } from '../harness/service.ts'
import { openTestConnection } from '../harness/test-connection.ts'
import { waitUntil } from '../harness/wait-until.ts'

/** Undefined when there is no such series. */
function readValue(text: string, series: string): number | undefined {
  const line = text.split('\n').find((each) => each.startsWith(`${series} `))
  return line === undefined ? undefined : Number(line.slice(series.length + 1))
}

async function scrape({ app }: Service): Promise<(series: string) => number | undefined> {
  const text = await (await fetch(`${app.url}/metrics`)).text()
  return (series) => readValue(text, series)
}

test('a service at rest owns the accounts, has a database and no failed worker, and counts refusals from 0', async () => {
  await using service = await Service.start()
  const value = await scrape(service)
  assert.deepEqual(['service_owner', 'service_database_up'].map(value), [1, 1])
  const ofNodes = ['service_free_instances', 'service_node_settings_differ', 'service_database_set_back']
  assert.deepEqual(ofNodes.map(value), [0, 0, 0])
  assert.equal(value('service_worker_failed{worker="usage-flush"}'), 0)
  const latency = value('service_database_latency_seconds') ?? NaN
  assert.ok(latency >= 0 && latency < 2, String(latency))
  for (const reason of [
    'not_signed',
    'wrong_signature',
    'clock_differs',
    'unknown_instance',
    'other_inbox',
    'unreadable',
  ])
    assert.equal(value(`service_callbacks_refused_total{reason="${reason}"}`), 0)
  assert.equal(value('service_network_version_info{version="2.3000.1",pinned="true",refused="false"}'), 1)
})

test('a worker that fails is named until it succeeds', async () => {
  await using service = await Service.start()
  const failed = async () => (await scrape(service))('service_worker_failed{worker="usage-flush"}')
  await service.database.write({ sql: 'ALTER TABLE usage RENAME TO usage_away', parameters: [] })
  service.app.usage.count('a', '', 'messages_in')
  await service.app.workers.get('usage-flush')?.tick()
  assert.equal(await failed(), 1)
  await service.database.write({ sql: 'ALTER TABLE usage_away RENAME TO usage', parameters: [] })
  await service.app.workers.get('usage-flush')?.tick()
  assert.equal(await failed(), 0)
})

test('the free share of the disk is that of the machine, and absent while it cannot be read', async () => {
  let isGone = true
  const machine = {
    ...thisMachine,
    freeShare: () => (isGone ? Promise.reject(new Error('gone')) : Promise.resolve(0.07)),
  }
  await using service = await Service.start({ machine })
  const share = async () => (await scrape(service))('service_disk_free_ratio')
  assert.equal(await share(), undefined)
  isGone = false
  await waitUntil('the disk can be read', async () => (await share()) === 0.07)
  isGone = true
  await waitUntil('the disk cannot be read any more', async () => (await share()) === undefined)
})

test('the machine tells a share between 0 and 1', async () => {
  const share = await thisMachine.freeShare('.')
  assert.ok(share > 0 && share <= 1, String(share))
})

test('with PostgreSQL there is no disk to tell of', { skip: withoutPostgres }, async () => {
  await using service = await Service.start({ engine: 'postgres' })
  const { text } = await service.get('/metrics')
  assert.doesNotMatch(text, /service_disk_free_ratio/)
  assert.match(text, /^service_database_up 1$/m)
})

test('metrics answer while the database does not, and say that it is away and that the lease is uncertain', async () => {
  await using service = await Service.start({
    seed: async (database) => {
      await database.write(database.query.insertInto('instances').values(sampleInstanceColumns('a')))
    },
  })
  const lock = new DatabaseSync(service.databasePath, { timeout: 5000 })
  lock.exec('BEGIN EXCLUSIVE')
  await waitUntil('the database is away', async () => (await scrape(service))('service_database_up') === 0)
  await waitUntil('the lease is uncertain', async () => (await scrape(service))('service_owner') === 0)
  lock.exec('ROLLBACK')
  lock.close()
  await waitUntil('the database is back', async () => (await scrape(service))('service_database_up') === 1)
  await waitUntil('the lease is held again', async () => (await scrape(service))('service_owner') === 1)
})

test('a message that was stored while the clock was ahead has no negative age', async () => {
  await using service = await Service.start({
    seed: async (database) => {
      const receivedAt = Date.now() + 3_600_000
      await database.write(
        database.query.insertInto('instances').values(sampleInstanceColumns('a')),
        new JournalStore(database).inbox({ id: 'row', instance: 'a', event: sampleEvent('row'), receivedAt }),
      )
    },
  })
  assert.equal((await scrape(service))('service_inbox_oldest_seconds{instance="a"}'), 0)
})

test('the ban risk of an instance that sends is the score of the API', async () => {
  await using world = await AgentWorld.open({ accounts: 2 })
  for (let sent = 0; sent < 3; sent++) {
    await world.write(`message ${sent}`)
    await world.received(`message ${sent}`)
  }
  let risk = { score: 0, velocity_msgs_per_window: 0 }
  // A message counts when it is acknowledged, a moment after the customer has it.
  await waitUntil('all messages count', async () => {
    risk = (await world.service.get('/api/instances/n0/ban-risk')).body as typeof risk
    return risk.velocity_msgs_per_window === 3
  })
  const value = await scrape(world.service)
  assert.equal(value('service_ban_risk_score{instance="n0"}'), risk.score)
  assert.equal(value('service_ban_risk_score{instance="n1"}'), undefined, 'an instance that sent nothing has no series')
})

/** A database in which a received message of the instance `a` waits for a helpdesk that is not configured. */
async function placeWithBacklog(stack: AsyncDisposableStack) {
  const place = stack.use(await migratedLocation('sqlite'))
  await using database = await openTestConnection(place.location, [])
  await database.write(
    database.query.insertInto('instances').values(sampleInstanceColumns('a')),
    new JournalStore(database).inbox({
      id: 'row',
      instance: 'a',
      event: sampleEvent('row'),
      receivedAt: Date.now() - 60_000,
    }),
  )
  return place
}

test('a standby says that it does not act, and leaves the ages to the owner', async () => {
  await using stack = new AsyncDisposableStack()
  const place = await placeWithBacklog(stack)
  const environment = { DATABASE_URL: place.url }
  await using first = new ServiceProcess(environment)
  const read = async (url: string) => {
    const text = await (await fetch(`${url}/metrics`)).text()
    return ['service_owner', 'service_inbox_oldest_seconds{instance="a"}'].map((series) => readValue(text, series))
  }
  const [isOwner, age = NaN] = await read(await first.ready())
  assert.equal(isOwner, 1)
  assert.ok(age >= 60 && age < 600, String(age))
  await using second = new ServiceProcess(environment)
  const url = String((await second.logged('http listening'))['url'])
  await second.logged('another process owns the accounts, waiting')
  assert.deepEqual(await read(url), [0, undefined])
  first.send('SIGTERM')
  await second.ready()
  const [isOwnerNow, ageNow = NaN] = await read(url)
  assert.equal(isOwnerNow, 1)
  assert.ok(ageNow >= age, String(ageNow))
})

test(
  'metrics answer while a query waits for a lock, and the age of the last answer goes on',
  { skip: withoutPostgres },
  async () => {
    await using world = await AgentWorld.open({ engine: 'postgres' })
    await world.disconnect()
    await world.post(world.callback(9001, 'hello'))
    const age = async () => (await scrape(world.service))('service_outbox_oldest_seconds{instance="n0"}') ?? 0
    await waitUntil('a message waits', async () => (await age()) > 0)
    await using bystander = await Bystander.connect(world.place.location)
    await bystander.lock('outbox')
    const before = await age()
    await waitUntil('the age of the locked message grows', async () => (await age()) > before + 1)
    await bystander.unlock()
  },
)
