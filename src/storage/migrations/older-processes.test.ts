import assert from 'node:assert/strict'
import { test } from 'node:test'
import { OlderProcesses } from './older-processes.ts'

test('a process runs until its sign has not changed for six seconds', () => {
  const older = new OlderProcesses()
  const runs = (sign: number, at: number) => older.running([{ name: 'a', sign }], at).length === 1
  assert.ok(runs(1, 0))
  assert.ok(runs(1, 5999))
  assert.ok(runs(2, 6000), 'it has given a sign')
  assert.ok(runs(2, 11_999))
  assert.ok(!runs(2, 12_000))
})

test('processes that run for a minute are named, with what to do', () => {
  const older = new OlderProcesses()
  const look = (at: number) =>
    older.running(
      ['a', 'b'].map((name) => ({ name, sign: at })),
      at,
    )
  for (let at = 0; at < 60_000; at += 1000) assert.equal(look(at).length, 2)
  assert.throws(() => look(60_000), { name: 'StartError', message: /cannot run beside this build: stop a, b, then/ })
  assert.deepEqual(older.running([], 61_000), [])
})
