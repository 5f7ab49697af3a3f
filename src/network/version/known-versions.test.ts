import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../../test/harness/manual-clock.ts'
import type { WAVersion } from '../library/library.ts'
import { KnownVersions } from './known-versions.ts'

const version = (revision: number): WAVersion => [2, 3000, revision]
const [library, newer, newest] = [100, 200, 300].map(version) as [WAVersion, WAVersion, WAVersion]
const minute = 60_000

function known(clock = new ManualClock()): KnownVersions {
  return new KnownVersions(library, clock)
}

test('only a higher version is taken', () => {
  const versions = known()
  assert.equal(versions.learn(version(99)), false)
  assert.equal(versions.learn(library), false)
  assert.equal(versions.learn(newer), true)
  assert.equal(versions.learn(version(150)), false)
  assert.deepEqual(versions.current, newer)
})

test('a refused version gives way to the last one that worked, and comes back when it works', () => {
  const versions = known()
  versions.noteWorked(library)
  versions.learn(newer)
  versions.noteRefused(newer)
  assert.deepEqual(versions.current, library)
  assert.equal(versions.isRefused(library), false)
  assert.equal(versions.noteWorked(newer), true)
  assert.deepEqual([versions.current, versions.worked], [newer, newer])
  assert.equal(versions.noteWorked(newer), false, 'this is no news')
})

test('a refused version is no measure for the next one', () => {
  const versions = known()
  versions.noteWorked(library)
  versions.learn(newest)
  versions.noteRefused(newest)
  assert.equal(versions.learn(newest), false)
  assert.equal(versions.learn(version(50)), false)
  assert.equal(versions.learn(newer), true)
  assert.deepEqual(versions.current, newer)
})

test('two refused versions are tried in turn', async () => {
  const clock = new ManualClock()
  const versions = known(clock)
  versions.noteWorked(library)
  versions.learn(newer)
  versions.noteRefused(newer)
  await clock.advance(minute)
  versions.noteRefused(library)
  assert.deepEqual(versions.current, newer)
  assert.equal(versions.isRefused(newer), true)
  await clock.advance(15 * minute)
  versions.noteRefused(newer)
  assert.deepEqual(versions.current, library)
})

test('what is known survives a restart, and a newer library wins', () => {
  const before = known()
  before.noteWorked(library)
  before.learn(newer)
  before.noteRefused(newer)
  const stored = before.toStored()
  assert.deepEqual(stored, { newest: '2.3000.200', worked: '2.3000.100', refused: '2.3000.200' })
  const after = known()
  after.restore(stored)
  assert.deepEqual([after.current, after.isRefused(newer)], [library, true])
  const updated = new KnownVersions(newest, new ManualClock())
  updated.restore(stored)
  assert.deepEqual([updated.current, updated.worked], [newest, library])
})

test('a stored version that cannot be read is ignored', () => {
  const versions = known()
  versions.restore({ newest: 'nonsense', worked: '', refused: 'nonsense' })
  assert.deepEqual([versions.current, versions.worked], [library, null])
})
