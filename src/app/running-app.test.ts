import assert from 'node:assert/strict'
import { test } from 'node:test'
import fastify from 'fastify'
import { silentLog } from '../../test/harness/logs.ts'
import { ManualClock } from '../../test/harness/manual-clock.ts'
import { loadConfig } from '../config/config.ts'
import { closeServer } from '../http/server/listener.ts'
import { RunningApp } from './running-app.ts'

type Parts = ConstructorParameters<typeof RunningApp>[0]

const done = () => Promise.resolve()

/** An application that has started. One of its instances is left when it stops. */
async function started(othersGoOn: boolean) {
  const server = fastify()
  const owned = new AsyncDisposableStack()
  owned.defer(() => closeServer(server))
  const clock = new ManualClock()
  const calls: string[] = []
  const config = loadConfig({ DATABASE_URL: 'file:./unused.db', PORT: '0', HOST: '127.0.0.1' })
  const app = new RunningApp({
    ...{ base: { config, clock, log: silentLog, build: { version: '1' } }, server, owned, onServing: () => undefined },
    storage: { ownership: { acquire: done, predecessorMayRun: false }, takeOverRows: done, audit: { append: done } },
    instances: { counts: () => ({ active: 1, total: 1 }), records: () => [] },
    supply: {
      ...{ prepare: done, take: done, boot: done, hasPeers: () => othersGoOn, othersGoOn: () => othersGoOn },
      giveAway: () => Promise.resolve(void calls.push('give away')),
    },
    outbound: { pause: () => void calls.push('pause') },
    processEvents: {
      started: () => undefined,
      restarting: () => Promise.resolve(void calls.push('tell subscribers')),
    },
    ...{ jobs: { start: () => undefined }, lifecycle: { start: done }, workers: [], perInstance: [] },
  } as unknown as Parts)
  await app.start()
  return { app, clock, calls }
}

test('subscribers hear of a stop when no other node goes on', async () => {
  const { app, clock, calls } = await started(false)
  await using running = app
  await clock.advanceUntil(running.stop())
  assert.deepEqual(calls, ['give away', 'pause', 'tell subscribers'])
})

test('subscribers hear nothing of what is left after a drain', async () => {
  const { app, clock, calls } = await started(true)
  await using running = app
  await clock.advanceUntil(running.stop())
  assert.deepEqual(calls, ['give away', 'pause'])
})
