import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeKey, encodeKey } from './key-codec.ts'

test('a session just written is not parsed again, once', () => {
  const session = { version: 'v1', _sessions: { a: { chain: 'AAAA' } } }
  const bytes = encodeKey('session', session)
  assert.equal(decodeKey('session', bytes), session)
  const parsed = decodeKey('session', bytes)
  assert.notEqual(parsed, session)
  assert.deepEqual(parsed, session)
})

test('the same bytes read from storage, and large sessions, are parsed', () => {
  const session = { _sessions: { a: { chain: 'AAAA' } } }
  const stored = Buffer.from(encodeKey('session', session))
  assert.notEqual(decodeKey('session', stored), session)
  assert.deepEqual(decodeKey('session', stored), session)
  const large = { _sessions: { a: 'A'.repeat(20_000) } }
  const bytes = encodeKey('session', large)
  assert.notEqual(decodeKey('session', bytes), large)
  assert.deepEqual(decodeKey('session', bytes), large)
})

test('of many sessions only the newest are remembered', () => {
  const written = Array.from({ length: 1_100 }, (_, n) => ({ n }))
  const all = written.map((session) => encodeKey('session', session))
  const remembered = all.filter((bytes, n) => decodeKey('session', bytes) === written[n])
  assert.equal(remembered.length, 1_000)
})

test('a list of devices, a LID and a token are parsed once, until they are written again', () => {
  for (const [kind, first, second] of [
    ['user-devices', { at: 1, devices: [0] }, { at: 2, devices: [0, 3] }],
    ['lid-mapping', '777001', '777002'],
    ['tctoken', { token: Buffer.of(1), timestamp: '1' }, { token: Buffer.of(2), timestamp: '2' }],
  ] as const) {
    const bytes = encodeKey(kind, first)
    const value = decodeKey(kind, bytes)
    assert.deepEqual(value, first)
    assert.equal(decodeKey(kind, bytes), value)
    assert.deepEqual(decodeKey(kind, encodeKey(kind, second)), second)
  }
})
