import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../test/harness/manual-clock.ts'
import type { OwnerAnswer } from '../core/nodes/owners.ts'
import { RouteTable } from './route-table.ts'

const owner = { id: 'node-1', address: 'http://10.0.0.5:8091', epoch: 3 }

function bed(answer: OwnerAnswer = owner) {
  const clock = new ManualClock()
  const held = new Set<string>()
  const asked: string[] = []
  const known = new Set(['shop'])
  const table = new RouteTable({
    clock,
    isHere: (instance) => held.has(instance),
    find: (instance) => {
      asked.push(instance)
      return Promise.resolve(answer)
    },
    names: { has: (name) => Promise.resolve(known.has(name)) },
    takeQuarantined: () => Promise.resolve(),
  })
  return { clock, held, asked, table }
}

test('an owner is remembered for thirty seconds', async () => {
  const { clock, asked, table } = bed()
  assert.deepEqual(await table.ownerOf('shop'), owner)
  await clock.advance(29_999)
  assert.deepEqual(await table.ownerOf('shop'), owner)
  assert.equal(asked.length, 1)
  await clock.advance(1)
  await table.ownerOf('shop')
  assert.equal(asked.length, 2)
})

test('after forget the database is asked again, for that instance only', async () => {
  const { asked, table } = bed()
  await table.ownerOf('shop')
  await table.ownerOf('bar')
  table.forget('shop')
  await table.ownerOf('shop')
  await table.ownerOf('bar')
  assert.deepEqual(asked, ['shop', 'bar', 'shop'])
})

test('what this node holds is here at once, also when another owner is remembered', async () => {
  const { held, asked, table } = bed()
  await table.ownerOf('shop')
  held.add('shop')
  assert.equal(await table.ownerOf('shop'), 'here')
  assert.equal(asked.length, 1)
})

test('no owner, quarantine and an unknown name are not remembered', async () => {
  for (const answer of ['none', 'quarantined', 'unknown'] as const) {
    const { asked, table } = bed(answer)
    assert.equal(await table.ownerOf('shop'), answer)
    await table.ownerOf('shop')
    assert.equal(asked.length, 2, answer)
  }
})

test('a callback for a name that does not exist costs no query of its own; every other one is answered like a request', async () => {
  const { held, asked, table } = bed()
  for (let n = 0; n < 1000; n++) assert.equal(await table.callbackOwnerOf(`unknown-${n}`), 'unknown')
  assert.deepEqual(asked, [])
  assert.deepEqual(await table.callbackOwnerOf('shop'), owner)
  assert.deepEqual(await table.callbackOwnerOf('shop'), owner)
  assert.deepEqual(asked, ['shop'])
  held.add('bar')
  assert.equal(await table.callbackOwnerOf('bar'), 'here')
})

test('questions about the same instance at the same time cost one query', async () => {
  const { asked, table } = bed('none')
  await Promise.all([table.ownerOf('shop'), table.ownerOf('shop'), table.ownerOf('bar')])
  assert.deepEqual(asked, ['shop', 'bar'])
})
