import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../test/harness/manual-clock.ts'
import { Readiness } from './readiness.ts'

test('a process stands by only when an owner was named, and after longer than a lease lasts', async () => {
  const clock = new ManualClock()
  const ownership = { state: 'standby' as const, serves: false, isRefused: false }
  const readiness = new Readiness({ ownership, clock, nodeTrouble: () => null })
  assert.equal(readiness.phase, 'starting')
  await clock.advance(6400)
  ownership.isRefused = true
  assert.equal(readiness.phase, 'starting')
  ownership.isRefused = false
  await clock.advance(600)
  assert.deepEqual([readiness.phase, readiness.shown], ['starting', 'starting'], 'the database does not answer')
  ownership.isRefused = true
  assert.equal(readiness.phase, 'standby')
})

test('a balancer is told to send requests only while this process serves and other nodes need not take them', async () => {
  const clock = new ManualClock()
  const ownership = { state: 'standby' as 'standby' | 'held' | 'uncertain', serves: false, isRefused: true }
  let trouble: 'draining' | 'cut_off' | null = 'draining'
  const readiness = new Readiness({ ownership, clock, nodeTrouble: () => trouble })
  assert.equal(readiness.readyState, 'starting')
  await clock.advance(7000)
  assert.equal(readiness.readyState, 'standby')
  Object.assign(ownership, { state: 'held', serves: true })
  assert.equal(readiness.readyState, 'starting', 'the start is not over')
  readiness.begin()
  assert.equal(readiness.readyState, 'draining')
  trouble = 'cut_off'
  assert.equal(readiness.readyState, 'cut_off')
  trouble = null
  assert.equal(readiness.readyState, 'ready')
  ownership.state = 'uncertain'
  assert.equal(readiness.readyState, 'ready', 'no other process can take the requests')
})
