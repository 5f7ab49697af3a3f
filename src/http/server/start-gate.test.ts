import assert from 'node:assert/strict'
import { test } from 'node:test'
import fastify from 'fastify'
import { ManualClock } from '../../../test/harness/manual-clock.ts'
import { waitUntil } from '../../../test/harness/wait-until.ts'
import { StartGate } from './start-gate.ts'
import type { Phase } from './start-gate.ts'

/** A server whose requests pass a gate, which the test opens. */
async function setUp() {
  const clock = new ManualClock()
  const begun = new AbortController()
  const phase = (): Phase => (begun.signal.aborted ? 'serving' : 'starting')
  const gate = new StartGate({ phase, begun: begun.signal, clock })
  const app = fastify({ forceCloseConnections: true })
  app.decorateRequest('heldMs', 0)
  app.addHook('preParsing', (request, reply) => gate.pass(request, reply))
  app.post('/', () => 'done')
  const url = await app.listen({ port: 0, host: '127.0.0.1' })
  const send = (signal?: AbortSignal) => fetch(url, { method: 'POST', ...(signal && { signal }) })
  const held = (count: number) => waitUntil(`${count} requests are held`, () => clock.pending === count)
  return { begun, send, held, [Symbol.asyncDispose]: () => app.close() }
}

test('a request is held until the service serves', async () => {
  await using stage = await setUp()
  const answer = stage.send()
  await stage.held(1)
  stage.begun.abort()
  assert.equal((await answer).status, 200)
  await stage.held(0)
})

test('a request whose client hangs up is no longer held', async () => {
  await using stage = await setUp()
  const hangUp = new AbortController()
  const answer = stage.send(hangUp.signal)
  await stage.held(1)
  hangUp.abort()
  await assert.rejects(answer)
  await stage.held(0)
})
