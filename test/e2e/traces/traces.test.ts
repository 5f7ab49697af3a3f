// With a collector, every message is one trace in which its steps meet, also over a restart, and which holds no content.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { AgentWorld } from '../../harness/agent-world.ts'
import { leaksIn } from '../../harness/leak-search.ts'
import { FastClock } from '../../harness/fast-clock.ts'
import { ServiceProcess } from '../../harness/service-process.ts'
import { signatureOf } from '../../harness/signed-callback.ts'
import { TraceCollector } from '../../harness/trace-collector.ts'
import type { CollectedSpan } from '../../harness/trace-collector.ts'
import { waitUntil } from '../../harness/wait-until.ts'

/** Every attribute that a span may have. None of them can hold a text, a number of a person or a name. */
const allowed = ['instance', 'direction', 'kind', 'content', 'chat', 'bytes', 'attempt', 'outcome', 'method', 'about']

function assertOneTree(spans: readonly CollectedSpan[]): void {
  const ids = new Set(spans.map(({ spanId }) => spanId))
  assert.equal(ids.size, spans.length, 'every span has an id of its own')
  const [root, ...others] = spans.filter(({ parentSpanId }) => !ids.has(parentSpanId))
  assert.ok(root)
  assert.deepEqual([root.parentSpanId, others], ['', []])
}

const namesOf = (spans: readonly CollectedSpan[]) => [...new Set(spans.map(({ name }) => name))].sort()

describe('traces', { concurrency: 2 }, () => {
  test('a received message is one trace from its arrival until the helpdesk has it', async () => {
    await using collector = await TraceCollector.start()
    await using world = await AgentWorld.open({ environment: collector.environment })
    const sent = world.bob.text(world.phone, 'the secret words')
    await world.arrived(sent)
    const shown = await collector.has('shown')
    // The attempt ends after the message is shown, so its span can come in the next request.
    await collector.has('deliver')
    const trace = collector.traceOf(shown)
    assert.deepEqual(namesOf(trace), ['deliver', 'helpdesk request', 'receive', 'shown'])
    assertOneTree(trace)
    const [receive] = collector.named('receive')
    assert.deepEqual([receive?.parentSpanId, receive?.spanId], ['', shown.parentSpanId])
    assert.deepEqual(shown.facts, {
      'causeway.instance': 'n0',
      'causeway.direction': 'in',
      'causeway.kind': 'message',
      'causeway.content': 'text',
      'causeway.chat': 'person',
      'causeway.outcome': 'ok',
      'causeway.attempt': 1,
    })
    const posts = trace.filter(({ facts }) => facts['causeway.method'] === 'POST')
    assert.ok(posts.length >= 1, 'the post of the message is a step')
    assert.ok(trace.every(({ startMs, endMs }) => startMs > 0 && endMs >= startMs))
  })

  test('a message that is decrypted at the second attempt is one trace, and every span has an id of its own', async () => {
    await using collector = await TraceCollector.start()
    await using world = await AgentWorld.open({ environment: collector.environment })
    world.network.fault({ kind: 'undecryptable' })
    await world.arrived(world.bob.text(world.phone, 'the secret words'))
    const shown = await collector.has('shown', ({ facts }) => facts['causeway.outcome'] === 'ok')
    await collector.has('deliver')
    const trace = collector.traceOf(shown)
    const received = trace.filter(({ name }) => name === 'receive')
    assert.deepEqual(
      received.map(({ facts }) => facts['causeway.kind']),
      ['undecryptable', 'message'],
    )
    assert.equal(new Set(trace.map(({ spanId }) => spanId)).size, trace.length)
    const [notice] = received
    assertOneTree(trace.filter((span) => span !== notice && span.parentSpanId !== notice?.spanId))
  })

  test('a message of an agent is one trace from its callback until it is shown as read', async () => {
    await using collector = await TraceCollector.start()
    // A callback is answered within seconds of this clock, which a busy machine may need for one message.
    await using world = await AgentWorld.open({ environment: collector.environment, clock: new FastClock(0.2) })
    const id = await world.write('the secret answer')
    const message = await world.received('the secret answer')
    world.bob.receipt('read', [message])
    await world.shown(id, ({ status }) => status === 'read')
    const tick = await collector.has('tick')
    const trace = collector.traceOf(tick)
    assert.deepEqual(namesOf(trace), ['accept', 'callback', 'helpdesk request', 'network send', 'send', 'tick'])
    assertOneTree(trace)
    assert.deepEqual([tick.facts['causeway.kind'], tick.facts['causeway.outcome']], ['read', 'ok'])
    const [callback, send] = ['callback', 'send'].map((name) => trace.find((span) => span.name === name))
    assert.deepEqual([callback?.facts['causeway.outcome'], send?.facts['causeway.outcome']], ['sent', 'sent'])
  })

  test('a direct message is one trace from the request until the helpdesk has it', async () => {
    await using collector = await TraceCollector.start()
    await using world = await AgentWorld.open({ environment: collector.environment })
    await world.command('/n0/messages', { to: '5511888880001', text: 'your order' })
    await world.received('your order')
    const trace = collector.traceOf(await collector.has('deliver'))
    assert.deepEqual(namesOf(trace), ['accept', 'deliver', 'helpdesk request', 'network send', 'send', 'shown'])
    assertOneTree(trace)
  })

  test('the collector gets no text, no number, no name and no token', async () => {
    await using collector = await TraceCollector.start()
    const environment = { ...collector.environment, OTEL_EXPORTER_OTLP_HEADERS: 'x-key=of%20collector' }
    await using world = await AgentWorld.open({ environment })
    const { bob, phone, helpdesk } = world
    await world.arrived(bob.text(phone, 'the secret words'))
    await world.write('the secret answer')
    await world.received('the secret answer')
    await helpdesk.fault({ kind: 'status', status: 422, method: 'POST', path: /\/messages/, times: 1 })
    await world.arrived(bob.text(phone, 'another secret'))
    await collector.has('deliver', ({ facts }) => facts['causeway.attempt'] === 2)
    const keys = new Set(collector.spans.flatMap(({ facts }) => Object.keys(facts)))
    assert.deepEqual(
      [...keys].filter((key) => !allowed.includes(key.replace('causeway.', ''))),
      [],
    )
    const values = collector.spans.flatMap(({ facts }) => Object.values(facts))
    const sentences = values.filter((value) => typeof value === 'string' && !/^\w+( \w+)?$/.test(value))
    assert.deepEqual(sentences, [], 'every value is a word or two')
    const secrets = {
      text: 'secret words',
      answer: 'secret answer',
      another: 'another secret',
      bob: bob.user.phone,
      lid: '200000000000001',
      name: 'Bob',
      agent: 'Ana',
      owner: phone.user.phone,
      token: helpdesk.facts.api_token,
      webhook: helpdesk.facts.webhook_secret,
    }
    assert.deepEqual(leaksIn(collector.requests.join('\n'), secrets), [])
    assert.ok(collector.requests.every((each) => each.startsWith('/v1/traces\n') && each.includes('"of collector"')))
  })

  test('the steps before and after kill -9 meet in one trace, in both directions', async () => {
    await using collector = await TraceCollector.start()
    await using world = await AgentWorld.open({ environment: collector.environment })
    await world.stop()
    const { helpdesk, bob, network } = world
    {
      await using first = new ServiceProcess(world.environment)
      await waitUntil('the account is online', () => first.reached('ready'))
      await helpdesk.fault({ kind: 'status', status: 503, times: Infinity })
      bob.text(world.phone, 'before the kill')
      await collector.has('receive')
      network.fault({ kind: 'login_failure', code: 503, times: Infinity })
      await network.strike({ kind: 'drop', account: world.phone.user.phone })
      await waitUntil('the account is away', () => first.reached('disconnected'))
      const body = JSON.stringify(world.callback(7001, 'queued before the kill'))
      const headers = signatureOf(body, helpdesk.facts.webhook_secret)
      const { status, text } = await first.request('POST', '/api/instances/n0/webhook', { body, headers })
      assert.equal(status, 202, text)
      await collector.has('accept')
      first.send('SIGKILL')
      await first.exited()
    }
    await helpdesk.clearFaults()
    network.faults.clear()
    assert.deepEqual(collector.named('send'), [], 'nothing was sent before the kill')
    await using second = new ServiceProcess(world.environment)
    await second.ready()
    await world.received('queued before the kill')
    const shown = await collector.has('shown')
    const send = await collector.has('send', ({ facts }) => facts['causeway.outcome'] === 'sent')
    assert.equal(shown.traceId, collector.named('receive')[0]?.traceId)
    assert.equal(send.traceId, collector.named('accept')[0]?.traceId)
    // The attempt that the kill cut off has no span, so its requests have no parent.
    assertOneTree(collector.traceOf(shown).filter(({ name }) => name !== 'helpdesk request'))
    assertOneTree(collector.traceOf(send))
  })

  test('of many messages only the configured share is traced', async () => {
    await using collector = await TraceCollector.start()
    const environment = { ...collector.environment, OTEL_TRACES_SAMPLER_ARG: '0' }
    await using world = await AgentWorld.open({ environment })
    await world.arrived(world.bob.text(world.phone, 'not traced'))
    await world.stop()
    assert.deepEqual(collector.spans, [])
  })
})
