import assert from 'node:assert/strict'
import { test } from 'node:test'
import { allDuties } from '../../test/harness/duties.ts'
import { silentLog } from '../../test/harness/logs.ts'
import { ManualClock } from '../../test/harness/manual-clock.ts'
import { Announcer } from './announcer.ts'
import { ExhaustedDeliveries } from './exhausted-deliveries.ts'
import { Lifecycle } from './lifecycle.ts'

test('redelivering under the name of another instance leaves the exhausted delivery in health', async () => {
  const clock = new ManualClock()
  const none = () => Promise.resolve([])
  const missing = () => Promise.resolve(undefined)
  const exhausted = new ExhaustedDeliveries({ deliveries: { exhaustedSince: none }, duties: allDuties, clock })
  await exhausted.take('a')
  exhausted.add({ id: 'd1', instance: 'a', expiresAt: null })
  const lifecycle = new Lifecycle({
    announcer: new Announcer({ version: '1', clock }),
    courier: { start: () => Promise.resolve(), add: () => undefined },
    deliveries: { insert: () => Promise.resolve(), list: none, reopen: missing, findPending: missing },
    exhausted,
    clock,
    log: silentLog,
    onAnnounced: () => undefined,
  })
  await assert.rejects(lifecycle.redeliver('b', 'd1'), /has no delivery/)
  assert.equal(exhausted.count, 1)
})
