// Runs alone: it measures the memory of its process.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { BoundedMap } from './bounded-map.ts'

const max = 4
const ttlMs = 10

/** The same in the plainest way: a list, the oldest entry first. */
class List {
  entries: { key: string; value: number; until: number }[] = []

  set(key: string, value: number, now: number): void {
    this.delete(key)
    this.entries.push({ key, value, until: now + ttlMs })
    if (this.entries.length > max) this.entries.shift()
  }

  get(key: string, now: number): number | undefined {
    const entry = this.entries.find((each) => each.key === key)
    if (entry && entry.until <= now) this.delete(key)
    return entry && entry.until > now ? entry.value : undefined
  }

  delete(key: string): void {
    this.entries = this.entries.filter((each) => each.key !== key)
  }
}

const keys = ['a', 'b', 'c', 'd', 'e', 'f', 'g']
const step = fc.record({
  act: fc.constantFrom('set', 'set', 'set', 'get', 'delete', 'deleteWhere', 'clear'),
  key: fc.constantFrom(...keys),
  wait: fc.nat(6),
})

test('after any steps it has the newest entries that are not too old', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      let now = 0
      const map = new BoundedMap<number>({ clock: { monotonic: () => now }, max, ttlMs })
      const list = new List()
      for (const [index, { act, key, wait }] of steps.entries()) {
        now += wait
        if (act === 'set') {
          map.set(key, index)
          list.set(key, index, now)
        } else if (act === 'get') assert.equal(map.has(key), list.get(key, now) !== undefined)
        else if (act === 'delete') {
          map.delete(key)
          list.delete(key)
        } else if (act === 'deleteWhere') {
          map.deleteWhere((each) => each < key)
          list.entries = list.entries.filter((each) => each.key >= key)
        } else {
          map.clear()
          list.entries = []
        }
      }
      for (const key of keys) assert.equal(map.get(key), list.get(key, now), key)
    }),
    { numRuns: 1000 },
  )
})

test('an entry is there until its time is over', () => {
  let now = 0
  const map = new BoundedMap<string>({ clock: { monotonic: () => now }, max, ttlMs })
  map.set('a', 'one')
  now = ttlMs - 1
  assert.equal(map.get('a'), 'one')
  now = ttlMs
  assert.equal(map.get('a'), undefined)
})

test('a map that was full once keeps no memory of entries that were set again', () => {
  setFlagsFromString('--expose-gc')
  const collectGarbage = runInNewContext('gc') as () => void
  const usedMb = () => {
    collectGarbage()
    return process.memoryUsage().heapUsed / 2 ** 20
  }
  const map = new BoundedMap<string>({ clock: { monotonic: () => 0 }, max: 1000, ttlMs })
  for (let n = 0; n <= 1000; n++) map.set(`key ${n}`, '')
  const before = usedMb()
  for (let n = 0; n < 300_000; n++) map.set(`key ${1 + (n % 1000)}`, '')
  const grownMb = usedMb() - before
  assert.ok(grownMb < 10, `${grownMb} MB`)
  assert.equal(map.get('key 1'), '')
})
