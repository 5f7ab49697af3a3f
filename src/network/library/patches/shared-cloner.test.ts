import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { test } from 'node:test'
import { NodeCache } from '@cacheable/node-cache'
import { shareCloner } from './shared-cloner.ts'

const clonerOf = (cache: object) => (cache as { _cacheable: unknown })._cacheable

test('caches share their cloner and nothing else', () => {
  const before = clonerOf(new NodeCache())
  shareCloner()
  const [one, other] = [new NodeCache<object>({ useClones: true }), new NodeCache<object>()]
  assert.equal(clonerOf(one), clonerOf(other))
  assert.notEqual(clonerOf(one), before)
  const value = { name: 'Maria' }
  one.set('a', value)
  assert.deepEqual(one.get('a'), value)
  assert.notEqual(one.get('a'), value, 'it is a copy')
  assert.equal(other.get('a'), undefined)
  assert.notEqual(one.getIntervalId(), 0, 'old entries are still removed')
  one.close()
  other.close()
})

test('the library has no other copy of its cache', () => {
  const ofLibrary = createRequire(import.meta.resolve('baileys')).resolve('@cacheable/node-cache')
  assert.equal(ofLibrary, createRequire(import.meta.url).resolve('@cacheable/node-cache'))
})
