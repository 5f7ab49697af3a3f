import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DownstreamError } from '../../../src/core/downstream.ts'
import { InboundMetrics } from '../../../src/bridge/inbound/inbound-metrics.ts'
import type { RealtimeResult } from '../../../src/bridge/inbound/inbound-metrics.ts'
import { Metrics } from '../../../src/ledger/metrics.ts'
import { BridgeBed, envelope, message } from './harness/bridge-bed.ts'

async function figure(bed: BridgeBed, name: string): Promise<number | undefined> {
  const line = (await bed.metrics.exposition()).split('\n').find((each) => each.startsWith(`${name} `))
  return line === undefined ? undefined : Number(line.slice(name.length))
}

test('what arrives is counted by kind, each once, also what cannot be opened', async () => {
  await using bed = await BridgeBed.open()
  const key = { chat: '', id: 'W', fromMe: false, participant: null }
  await bed.receive(message('text'))
  await bed.receive(message('text'))
  await bed.receive(message({ type: 'poll', question: 'Lunch?', options: [] }))
  await bed.receive(message({ type: 'unsupported', name: 'anythingMessage', text: null }))
  await bed.receive({ ...envelope(), kind: 'reaction', target: key, emoji: '👍' })
  await bed.receive({ ...envelope(), kind: 'sealed', purpose: 'poll_vote', target: key, payload: '', iv: '' })
  await bed.receive({ ...envelope(), kind: 'undecryptable', reason: 'Bad MAC' })
  const counts = { text: 2, poll: 1, unsupported: 1, reaction: 1, poll_vote: 1, undecryptable: 1 }
  for (const [kind, count] of Object.entries(counts)) {
    assert.equal(await figure(bed, `service_received_total{instance="a",kind="${kind}"}`), count, kind)
  }
  await bed.metrics.leave('a')
  await bed.settle()
  assert.equal(await figure(bed, 'service_received_total{instance="a",kind="text"}'), undefined)
})

test('a message that comes again is counted as such', async () => {
  await using bed = await BridgeBed.open()
  const twice = message('once')
  await bed.receive(twice)
  await bed.posted(1)
  await bed.receive(twice)
  await bed.drained()
  assert.equal(await figure(bed, 'service_duplicates_total{instance="a",kind="message"}'), 1)
  bed.set.reception.onRepeated('a')
  assert.equal(await figure(bed, 'service_duplicates_total{instance="a",kind="redelivered"}'), 1)
  assert.equal(bed.helpdesk.messages.length, 1)
})

test('how many messages the longest lane holds is told', async () => {
  await using bed = await BridgeBed.open()
  bed.helpdesk.script = () => {
    throw new DownstreamError('destination', 'away')
  }
  for (const text of ['one', 'two', 'three']) await bed.receive(message(text))
  await bed.receive(message('other', { chat: { kind: 'person', phone: '551190001', lid: null } }))
  await bed.settle()
  assert.equal(await figure(bed, 'service_inbound_lanes'), 2)
  assert.equal(await figure(bed, 'service_inbound_lane_longest'), 3)
})

test('what could not be passed on is counted by what was being asked for', async () => {
  await using bed = await BridgeBed.open()
  const failing = new Set(['ensureContact', 'ensureConversation', 'post'])
  bed.helpdesk.script = (call) => {
    if (failing.delete(call)) throw new DownstreamError('transient', 'busy')
  }
  await bed.receive(message('one'))
  await bed.postedWithin(1, 30_000)
  for (const kind of ['contact', 'conversation', 'text']) {
    const labels = `direction="in",instance="a",kind="${kind}",owner_tag=""`
    assert.equal(await figure(bed, `service_message_dispatch_errors_total{${labels}}`), 1, kind)
  }
})

test('of reactions only the results are told that they are specified to have', async () => {
  await using bed = await BridgeBed.open()
  await bed.receive(message('one'))
  await bed.posted(1)
  const target = { chat: '', id: 'unknown', fromMe: false, participant: null }
  const reaction = { ...envelope(), kind: 'reaction' as const, target, emoji: '👍' }
  await bed.receive({ ...reaction, id: 'theirs' })
  await bed.receive({ ...reaction, id: 'theirs' })
  await bed.receive({ ...reaction, id: 'ours', fromMe: true })
  await bed.posted(2)
  await bed.drained()
  const lines = (await bed.metrics.exposition()).split('\n').filter((line) => line.includes('feature="reaction"'))
  assert.deepEqual(lines, ['service_realtime_events_total{feature="reaction",result="ok",instance="a"} 1'])
})

test('each received event is logged once with its result, also when nothing is posted', async () => {
  await using bed = await BridgeBed.open()
  await bed.receive(message('one'))
  await bed.posted(1)
  const target = { chat: '', id: 'unknown', fromMe: false, participant: null }
  await bed.receive({ ...envelope(), kind: 'reaction', target, emoji: '👍', id: 'ours', fromMe: true })
  await bed.drained()
  const logged = bed.logs.withMessage('message from the network handled').map(({ kind, result }) => [kind, result])
  assert.deepEqual(logged, [
    ['message', 'ok'],
    ['reaction', 'filtered'],
  ])
})

test('a reaction is counted with the four results of its metric, and a change of a group with every result', async () => {
  const metrics = new Metrics({ version: 'x' })
  const inbound = new InboundMetrics({ metrics, usage: { count: () => undefined }, ownerTagOf: () => '' })
  const results: RealtimeResult[] = [
    'ok',
    'no_contact',
    'no_conv',
    'ds_error',
    'filtered',
    'skip_disabled',
    'duplicate',
  ]
  for (const kind of ['reaction', 'group', 'message']) {
    for (const result of results) inbound.countResult('a', kind, result)
  }
  const { values } = await metrics.realtimeEvents.get()
  const counted = (feature: string) =>
    values.filter(({ labels }) => labels['feature'] === feature).map(({ labels }) => labels['result'])
  assert.deepEqual(counted('reaction'), results.slice(0, 4))
  assert.deepEqual(counted('group_event'), results)
  assert.equal(values.length, 11)
})
