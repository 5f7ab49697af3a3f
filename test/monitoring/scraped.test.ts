// The dashboard, the alerts and the documents name only metrics and labels that a running service has.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, describe, test } from 'node:test'
import { instanceStates } from '../../src/core/instance.ts'
import { AgentWorld } from '../harness/agent-world.ts'
import { LeapingClock } from '../harness/leaping-clock.ts'
import { Service } from '../harness/service.ts'
import { waitUntil } from '../harness/wait-until.ts'
import { readExposition } from './harness/exposition.ts'
import type { Exposition } from './harness/exposition.ts'
import { findUnknown } from './harness/find-unknown.ts'
import { queriesOf, queriesOfPanel, readAlertRules, readDashboard } from './harness/monitoring-files.ts'
import { readQuery } from './harness/promql.ts'

const scrape = async (world: AgentWorld) => readExposition((await world.service.get('/metrics')).text)

/** Messages go both ways and wait both ways; the connection drops, and a callback is refused. */
async function makeTraffic(world: AgentWorld): Promise<void> {
  await world.arrived(world.bob.text(world.phone, 'hello'))
  await world.write('good morning')
  await world.received('good morning')
  await world.post(world.callback(9001, 'x'), { secret: 'wrong' })
  await world.helpdesk.fault({ kind: 'refused' })
  world.bob.text(world.phone, 'are you there?')
  await waitUntil('an attempt failed', async () => (await scrape(world)).labels.has(failedAttempts))
  await world.disconnect()
  await world.post(world.callback(9002, 'we are'))
  await world.tells('n0', 'disconnected', 1)
}

const failedAttempts = 'service_message_dispatch_errors_total'
const sparse = ['service_inbox_oldest_seconds', 'service_outbox_oldest_seconds', 'service_ban_risk_score']

describe('of a service with traffic', () => {
  let world: AgentWorld
  let scraped: Exposition

  before(async () => {
    world = await AgentWorld.open()
    await makeTraffic(world)
    await waitUntil('messages wait in both directions', async () => {
      scraped = await scrape(world)
      return sparse.every((name) => scraped.labels.has(name)) && scraped.labels.has('service_realtime_events_total')
    })
  })

  after(() => world[Symbol.asyncDispose]())

  test('every panel and variable of the dashboard names what exists', () => {
    const queries = queriesOf(readDashboard())
    assert.ok(queries.length > 40, `${queries.length} queries`)
    assert.deepEqual(
      queries.flatMap((query) => findUnknown(query, scraped)),
      [],
    )
  })

  test('every alert names what exists', () => {
    const rules = readAlertRules()
    assert.ok(rules.length >= 11, `${rules.length} rules`)
    assert.deepEqual(
      rules.flatMap((rule) => findUnknown(rule, scraped)),
      [],
    )
  })

  test('the documents list every metric of the service with its type and labels, and no other', () => {
    const rows = readFileSync('docs/metrics.md', 'utf8').matchAll(/^\| `(service_\w+)` *\| (\w+) *\| ([^|]*)\|/gm)
    const documented = [...rows].map(([, name = '', type = '', labels = '']) => ({ name, type, labels: labels.trim() }))
    const existing = [...scraped.types].filter(([name]) => name.startsWith('service_'))
    assert.deepEqual(
      documented.map(({ name, type }) => `${name} ${type}`).sort(),
      existing.map((each) => each.join(' ')).sort(),
    )
    const differing = documented.filter(({ name, labels }) => {
      const own = scraped.labels.get(name)
      return own && own.size > 0 && [...own].sort().join(', ') !== labels.split(', ').sort().join(', ')
    })
    assert.deepEqual(differing, [])
  })

  test('no label of the service carries a phone number', () => {
    const numbers = ['5511888880001', world.phone.user.phone]
    const values = [...scraped.values.values()].flatMap((each) => [...each])
    assert.ok(values.includes('n0'))
    assert.deepEqual(
      values.filter((value) => numbers.some((number) => value.includes(number))),
      [],
    )
  })
})

test('the states that queries name are states of instances', () => {
  const queries = [...queriesOf(readDashboard()), ...readAlertRules()]
  const named = queries
    .flatMap(({ expression }) => readQuery(expression).selectors.flatMap(({ matchers }) => matchers))
    .flatMap(({ label, value }) => (label === 'state' ? value.split('|') : []))
  assert.deepEqual([...new Set(named)], ['ready'])
  assert.ok(instanceStates.includes('ready'))
})

test('the dashboard has a schema of Grafana 10.4 or later, and the data source is a variable', () => {
  const { schemaVersion, panels, templating } = readDashboard()
  assert.ok(schemaVersion >= 39)
  assert.deepEqual(
    templating.list.map(({ name }) => name),
    ['datasource', 'job', 'instance'],
  )
  const sources = panels.flatMap(({ datasource }) => datasource?.uid ?? [])
  assert.deepEqual([...new Set(sources)], ['${datasource}'])
  const rows = panels.filter(({ type }) => type === 'row').map(({ title }) => title)
  assert.deepEqual(rows, [
    'Fleet',
    'Instance $instance',
    'Helpdesks',
    'Delivery latency',
    'Storage',
    'Nodes',
    'Process',
  ])
})

/** Whether the query finds nothing in this service. */
function isEmpty(expression: string, scraped: Exposition): boolean {
  if (expression.includes('or vector(0)')) return false
  const isFiltered = / (?:[<>]=?|==|!=) /.test(expression)
  return isFiltered || readQuery(expression).selectors.some(({ metric }) => !scraped.labels.has(metric))
}

test('in a new installation every panel shows something, or says why it shows nothing', async () => {
  await using service = await Service.start()
  const scraped = readExposition((await service.get('/metrics')).text)
  const { panels } = readDashboard()
  const isSilent = (panel: (typeof panels)[number]) =>
    queriesOfPanel(panel).some(({ expression }) => isEmpty(expression, scraped))
  const silent = panels.filter(isSilent)
  assert.ok(silent.length > 5, `${silent.length} panels`)
  assert.deepEqual(
    silent.filter(({ fieldConfig }) => !fieldConfig?.defaults.noValue).map(({ title }) => title),
    [],
  )
})

test('the ages of waiting messages grow with the clock, by instance, and end when the messages leave', async () => {
  const clock = new LeapingClock()
  await using world = await AgentWorld.open({ accounts: 2, clock, helpdesk: { clock } })
  const [, other] = world.phones
  assert.ok(other)
  const age = (name: string) => world.metric(`service_${name}_oldest_seconds{instance="n0"}`)
  await world.helpdesk.fault({ kind: 'refused' })
  world.bob.text(world.phone, 'are you there?')
  await waitUntil('a message waits for the helpdesk', async () => (await age('inbox')) > 0)
  await clock.advance(400_000)
  await waitUntil('it is older', async () => (await age('inbox')) >= 400)
  assert.ok((await age('inbox')) < 500)
  const { text } = await world.service.get('/metrics')
  assert.doesNotMatch(text, /_oldest_seconds\{instance="n1"\}/, 'an instance without a waiting message has no series')
  await world.helpdesk.clearFaults()
  await waitUntil('nothing waits any more', async () => {
    await clock.advance(10_000)
    return (await age('inbox')) === 0
  })

  await world.disconnect()
  await world.post(world.callback(9001, 'we are'))
  await waitUntil('a message waits for WhatsApp', async () => (await age('outbox')) > 0)
  await world.reconnect()
  await world.received('we are')
  await waitUntil('it is sent', async () => (await age('outbox')) === 0)
})
