import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import fastify from 'fastify'
import type { FastifyBaseLogger } from 'fastify'
import { RecordedLog } from '../../../test/harness/logs.ts'
import { ManualClock } from '../../../test/harness/manual-clock.ts'
import { waitUntil } from '../../../test/harness/wait-until.ts'
import type { HttpApp } from '../http-app.ts'
import { listenWhenFree } from './listener.ts'

test('a port that stays taken is complained about after 30 s and given up after 60 s', async () => {
  const holder = createServer().listen(0, '127.0.0.1')
  await once(holder, 'listening')
  const { port } = holder.address() as AddressInfo
  const clock = new ManualClock()
  const logs = new RecordedLog()
  const loggerInstance: FastifyBaseLogger = logs.log
  const app = fastify({ loggerInstance }) as unknown as HttpApp
  let failure: unknown
  const { signal } = new AbortController()
  const over = listenWhenFree(app, { host: '127.0.0.1', port }, { clock, signal }).catch((error: unknown) => {
    failure = error
  })
  const tryFor = async (ms: number) => {
    for (const until = clock.monotonic() + ms; clock.monotonic() < until;) {
      await waitUntil('the port was tried', () => clock.pending === 1 || failure !== undefined)
      await clock.advance(250)
    }
    await waitUntil('the port was tried', () => clock.pending === 1 || failure !== undefined)
  }
  await tryFor(29_500)
  assert.equal(logs.withMessage('the port is still taken').length, 0)
  await tryFor(500)
  assert.equal(logs.withMessage('the port is still taken').length, 1)
  await tryFor(29_500)
  assert.equal(failure, undefined)
  await tryFor(500)
  await over
  assert.match(String(failure), /PORT=\d+ on 127\.0\.0\.1 is taken by another program: stop it or set PORT/)
  holder.close()
})
