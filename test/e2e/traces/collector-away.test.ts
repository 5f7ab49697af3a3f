// A collector that does not answer costs spans: no message waits for it, and the end of the service waits two seconds at most.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { AgentWorld } from '../../harness/agent-world.ts'
import { freePort } from '../../harness/free-port.ts'
import { LoopbackServer } from '../../harness/loopback-server.ts'
import { waitUntil } from '../../harness/wait-until.ts'

async function passBoth(world: AgentWorld): Promise<void> {
  await world.arrived(world.bob.text(world.phone, 'hello'))
  await world.write('an answer')
  await world.received('an answer')
}

async function droppedSpans({ service }: AgentWorld): Promise<number> {
  const { text } = await service.get('/metrics')
  return Number(/^service_trace_spans_dropped_total (\d+)$/m.exec(text)?.[1])
}

describe('a collector that is away', { concurrency: 2 }, () => {
  test('while nothing listens at its address, messages pass, and the lost spans are counted', async () => {
    const endpoint = `http://127.0.0.1:${await freePort()}`
    await using world = await AgentWorld.open({ environment: { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint } })
    await passBoth(world)
    await waitUntil('the spans are given up', async () => (await droppedSpans(world)) >= 5)
    assert.equal(world.service.logs.withMessage('spans do not reach the collector').length, 1)
  })

  test('while it takes requests and never answers, messages pass, and the service stops in time', async () => {
    await using silent = await LoopbackServer.start(() => undefined)
    const environment = { OTEL_EXPORTER_OTLP_ENDPOINT: silent.url('127.0.0.1', '') }
    await using world = await AgentWorld.open({ environment })
    await passBoth(world)
    await waitUntil('the collector was asked', () => silent.requests > 0)
    const { logs } = world.service
    const began = performance.now()
    await world.stop()
    const took = performance.now() - began
    assert.equal(logs.withMessage('the last spans did not reach the collector').length, 1)
    // The exporter itself would wait for ten seconds.
    assert.ok(took < 8000, `the stop took ${took} ms`)
  })
})
