import assert from 'node:assert/strict'
import { test } from 'node:test'
import { silentLog } from '../../../test/harness/logs.ts'
import { ManualClock } from '../../../test/harness/manual-clock.ts'
import { KeyCache, keyName } from './key-cache.ts'
import { KeyReader } from './key-reader.ts'

const kind = 'session'

test('a key that is written, stored and dropped from memory during a read is read again', async () => {
  const rows = new Map<string, Uint8Array>([
    ['a', Buffer.from('old')],
    ['b', Buffer.from('other')],
  ])
  const answered = Promise.withResolvers<undefined>()
  const asked: string[][] = []
  const load = async (_session: string, _kind: string, ids: readonly string[]) => {
    asked.push([...ids])
    const found = ids.flatMap((id) => ({ kind, id, value: rows.get(id) ?? new Uint8Array() }))
    await answered.promise
    return found
  }
  const cache = new KeyCache({ limits: { entries: 1, bytes: 1_000 }, isUnsaved: () => false })
  const closed = new AbortController().signal
  const deps = { keys: { load }, sessionId: 's', cache, clock: new ManualClock(), log: silentLog, closed }
  const reader = new KeyReader(deps)
  cache.put(keyName(kind, 'a'), Buffer.from('old'))
  const reading = reader.read(kind, ['a', 'b'])
  // While b is read, a new value of a is stored, and the cache has no room for it.
  rows.set('a', Buffer.from('new'))
  reader.noteWrite(keyName(kind, 'a'))
  cache.put(keyName(kind, 'c'), Buffer.from('pushes a out'))
  answered.resolve(undefined)
  const values = await reading
  assert.equal(Buffer.from(values.get('a') ?? []).toString(), 'new')
  assert.equal(Buffer.from(values.get('b') ?? []).toString(), 'other')
  assert.deepEqual(asked, [['b'], ['a']])
})
