import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RecordedLog } from '../../test/harness/logs.ts'
import { ManualClock } from '../../test/harness/manual-clock.ts'
import type { UnreachableCause } from '../core/network/closing.ts'
import { Reachability } from './reachability.ts'

function setUp() {
  const clock = new ManualClock()
  const logs = new RecordedLog()
  const reachability = new Reachability({ clock, log: logs.log })
  const fail = (instance: string, cause: UnreachableCause, more: { hasSession?: boolean; proxy?: string } = {}) => {
    const { hasSession = true, proxy } = more
    const closing = { reason: `it is ${cause}`, unreachable: { cause, cure: `cure ${cause}` } }
    reachability.failed(instance, { hasSession, networkProxy: proxy ?? null, closing })
  }
  const warned = () => logs.withMessage('WhatsApp cannot be reached').map(({ reason }) => reason)
  const ended = () => logs.withMessage('WhatsApp is reached again')
  return { clock, reachability, fail, warned, ended }
}

test('each cause is named once in an outage, however many accounts have it and however often they fail', async () => {
  const { clock, reachability, fail, warned, ended } = setUp()
  const names = Array.from({ length: 60 }, (_, index) => `n${index}`)
  for (let minute = 0; minute < 5; minute++) {
    for (const name of names) fail(name, minute % 2 === 0 ? 'dns' : 'timeout')
    await clock.advance(60_000)
  }
  assert.deepEqual(warned(), ['dns', 'timeout'])
  const since = clock.now() - 300_000
  assert.deepEqual(reachability.list(), [
    { reason: 'dns', sentence: 'it is dns', cure: 'cure dns', instances: names, since },
  ])
  for (const name of names.slice(1)) reachability.reached(name)
  assert.deepEqual(ended(), [])
  reachability.reached('n0')
  assert.deepEqual(
    ended().map(({ seconds }) => seconds),
    [300],
  )
  assert.deepEqual(reachability.list(), [])
  fail('n0', 'dns')
  assert.deepEqual(warned(), ['dns', 'timeout', 'dns'])
})

test('a cause that comes back after hours is named again, also while an account fails for another cause', async () => {
  const { clock, fail, warned } = setUp()
  fail('a', 'dns')
  for (let minutes = 0; minutes < 120; minutes += 5) {
    await clock.advance(300_000)
    fail('b', 'away')
  }
  fail('a', 'dns')
  assert.deepEqual(warned(), ['dns', 'away', 'dns'])
})

test('each proxy has outages of its own', () => {
  const { reachability, fail, warned, ended } = setUp()
  fail('a', 'proxy', { proxy: 'http://user:secret@one:1' })
  fail('b', 'proxy', { proxy: 'http://two:2' })
  fail('c', 'dns')
  assert.deepEqual(warned(), ['proxy', 'proxy', 'dns'])
  assert.equal(reachability.list().length, 3)
  reachability.reached('a')
  assert.deepEqual(
    ended().map(({ proxy }) => proxy),
    ['one:1'],
  )
  // Its next attempt goes through another proxy.
  fail('b', 'proxy', { proxy: 'http://three:3' })
  assert.equal(warned().length, 4)
  assert.equal(reachability.list().length, 2)
})

test('an account without a session is warned of and not listed; one that gives up ends its outage silently', () => {
  const { reachability, fail, warned, ended } = setUp()
  fail('a', 'refused', { hasSession: false })
  assert.deepEqual([warned(), reachability.list()], [['refused'], []])
  reachability.leave('a')
  reachability.reached('a')
  assert.deepEqual(ended(), [])
  fail('a', 'refused')
  assert.equal(warned().length, 2)
})
