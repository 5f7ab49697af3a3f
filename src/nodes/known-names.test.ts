import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../test/harness/manual-clock.ts'
import { KnownNames } from './known-names.ts'

function bed() {
  const clock = new ManualClock()
  const stored = ['shop']
  const state = { reads: 0, failure: undefined as Error | undefined }
  const read = () => {
    state.reads++
    return state.failure ? Promise.reject(state.failure) : Promise.resolve([...stored])
  }
  return { clock, stored, state, names: new KnownNames({ read, clock }) }
}

test('a thousand names cost one read within five seconds', async () => {
  const { clock, state, names } = bed()
  const asked = Array.from({ length: 1000 }, (_, n) => names.has(`unknown-${n}`))
  assert.deepEqual(new Set(await Promise.all(asked)), new Set([false]))
  assert.equal(await names.has('shop'), true)
  await clock.advance(4999)
  await names.has('unknown')
  assert.equal(state.reads, 1)
  await clock.advance(1)
  await names.has('unknown')
  assert.equal(state.reads, 2)
})

test('a new name is known as soon as the names are forgotten', async () => {
  const { stored, names } = bed()
  assert.equal(await names.has('bar'), false)
  stored.push('bar')
  assert.equal(await names.has('bar'), false)
  names.forget()
  assert.equal(await names.has('bar'), true)
})

test('a read that failed is made again for the next question', async () => {
  const { state, names } = bed()
  state.failure = new Error('storage is away')
  await assert.rejects(names.has('shop'), state.failure)
  state.failure = undefined
  assert.equal(await names.has('shop'), true)
})
