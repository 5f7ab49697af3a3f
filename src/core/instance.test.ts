import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { instanceNamePattern, instanceStates, stepFor, transitions } from './instance.ts'
import type { InstanceState, InstanceTrigger } from './instance.ts'

type Row = [from: InstanceState, trigger: InstanceTrigger, to: InstanceState | undefined, event?: string]

// The state table of the specification, row by row; undefined stays as it is.
const rows: Row[] = [
  ['logged_out', 'pair', 'qr_pending'],
  ['disconnected', 'pair', 'qr_pending'],
  ['qr_pending', 'pair', 'qr_pending'],
  ['ready', 'pair', undefined],
  ['paired', 'pair', undefined],
  ['qr_pending', 'window_over', 'disconnected'],
  ['ready', 'window_over', undefined],
  ['qr_pending', 'scanned', 'paired', 'paired'],
  ['disconnected', 'scanned', 'paired', 'paired'],
  ['paired', 'authenticated', 'ready'],
  ['connecting', 'authenticated', 'connected'],
  ['qr_pending', 'authenticated', 'connected'],
  ['connected', 'drained', 'ready'],
  ['ready', 'drained', undefined],
  ['ready', 'dropped', 'disconnected', 'disconnected'],
  ['connected', 'dropped', 'disconnected', 'disconnected'],
  ['connecting', 'dropped', 'disconnected'],
  ['qr_pending', 'dropped', undefined],
  ['paired', 'dropped', undefined],
  ['disconnected', 'attempt', 'connecting'],
  ['qr_pending', 'attempt', undefined],
  ['ready', 'reopen', 'connecting'],
  ['paired', 'reopen', undefined],
  ['logged_out', 'boot_unlinked', undefined],
  ['qr_pending', 'boot_unlinked', 'disconnected'],
  ['ready', 'boot_linked', 'connecting'],
  ['connecting', 'boot_banned', 'disconnected'],
  ['paired', 'reverted', 'connecting'],
]

describe('the state table', () => {
  for (const [from, trigger, to, event] of rows) {
    test(`${from} on ${trigger} ${to ? `becomes ${to}` : 'stays'}${event ? ` and says ${event}` : ''}`, () => {
      const step = stepFor(from, trigger)
      assert.deepEqual([step?.to, step?.event], [to, event])
    })
  }

  test('every state can be invalidated', () => {
    for (const state of instanceStates) {
      assert.deepEqual(stepFor(state, 'invalidated')?.to, 'logged_out')
    }
  })

  test('every state is reached by some trigger', () => {
    const reached = new Set(Object.values(transitions).flatMap((steps) => steps.map(({ to }) => to)))
    assert.deepEqual(
      instanceStates.filter((state) => !reached.has(state)),
      [],
    )
  })
})

test('names are safe in paths, logs and labels', () => {
  const pattern = new RegExp(instanceNamePattern)
  for (const name of ['a', 'A1', '0', 'a.b-c_d', 'bulky', 'x'.repeat(64)]) assert.ok(pattern.test(name), name)
  for (const name of ['', 'bulk', '.a', '-a', '_a', 'a b', 'a/b', 'ä', 'a\n', 'x'.repeat(65)])
    assert.ok(!pattern.test(name), name)
})
