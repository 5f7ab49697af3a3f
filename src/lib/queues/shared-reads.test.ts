import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SharedReads } from './shared-reads.ts'

const distinct = (keys: readonly string[]) => [...new Set(keys)]

function setUp() {
  const reads: (readonly string[])[] = []
  const shared = new SharedReads((keys) => {
    reads.push(keys)
    return Promise.resolve(new Map(keys.filter((key) => key !== 'unknown').map((key) => [key, `value of ${key}`])))
  })
  return { reads, shared }
}

test('callers of the same turn share a read, and each gets its own value', async () => {
  const { reads, shared } = setUp()
  const found = await Promise.all(['a', 'b', 'a', 'unknown'].map((key) => shared.find(key)))
  assert.deepEqual(found, ['value of a', 'value of b', 'value of a', undefined])
  assert.deepEqual(reads.map(distinct), [['a', 'b', 'unknown']])
})

test('a caller that comes after the read has begun gets a read of its own', async () => {
  const { reads, shared } = setUp()
  await shared.find('a')
  await shared.find('a')
  assert.deepEqual(reads, [['a'], ['a']])
})

test('one read asks for 100 keys at most', async () => {
  const { reads, shared } = setUp()
  await Promise.all(Array.from({ length: 250 }, (_, index) => shared.find(`key ${index}`)))
  assert.deepEqual(
    reads.map((keys) => distinct(keys).length),
    [100, 100, 50],
  )
})

test('reads have few lengths, so that few SQL texts are prepared', async () => {
  const { reads, shared } = setUp()
  for (let count = 1; count <= 100; count++) {
    await Promise.all(Array.from({ length: count }, (_, index) => shared.find(`key ${index}`)))
  }
  assert.deepEqual([...new Set(reads.map((keys) => keys.length))], [1, 2, 4, 8, 16, 32, 64, 128])
})

test('every caller hears of a read that fails, and the next read succeeds', async () => {
  let isAway = true
  const shared = new SharedReads((keys) =>
    isAway ? Promise.reject(new Error('away')) : Promise.resolve(new Map(keys.map((key) => [key, 1]))),
  )
  const outcomes = await Promise.allSettled(['a', 'b'].map((key) => shared.find(key)))
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    ['rejected', 'rejected'],
  )
  isAway = false
  assert.equal(await shared.find('a'), 1)
})
