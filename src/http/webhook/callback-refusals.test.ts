import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { RecordedLog } from '../../../test/harness/logs.ts'
import { ManualClock } from '../../../test/harness/manual-clock.ts'
import { CallbackRefusals } from './callback-refusals.ts'
import type { Caller } from './callback-refusals.ts'
import type { RefusalReason } from './refusal-sentences.ts'

const hour = 3_600_000

function setUp() {
  const clock = new ManualClock()
  const logs = new RecordedLog()
  const counts = new Map<RefusalReason, number>()
  const count = (reason: RefusalReason) => void counts.set(reason, (counts.get(reason) ?? 0) + 1)
  const refusals = new CallbackRefusals({ count, clock, log: logs.log })
  const refuse = (instance: string, reason: RefusalReason, more: Partial<Caller> = {}) => {
    refusals.refused({ instance, isKnown: true, isProved: true, ...more }, reason)
  }
  const shown = () => refusals.list().map(({ instance, reason, count }) => `${instance} ${reason} ${count}`)
  const warned = () =>
    logs.withMessage('callbacks are refused').map(({ instance, reason }) => `${String(instance)} ${String(reason)}`)
  return { clock, logs, counts, refusals, refuse, shown, warned }
}

describe('refused callbacks', () => {
  test('are warned of once an hour for each instance and reason, and all of them are counted', async () => {
    const { clock, counts, refuse, shown, warned } = setUp()
    for (let times = 0; times < 3; times++) {
      refuse('a', 'wrong_signature')
      refuse('b', 'wrong_signature')
      refuse('a', 'other_inbox')
    }
    assert.deepEqual(warned(), ['a wrong_signature', 'b wrong_signature', 'a other_inbox'])
    assert.deepEqual(shown(), ['a wrong_signature 3', 'a other_inbox 3', 'b wrong_signature 3'])
    assert.deepEqual([...counts.values()], [6, 3])
    await clock.advance(hour)
    refuse('a', 'wrong_signature')
    assert.equal(warned().length, 4)
  })

  test('are shown until a callback is accepted, none was refused for a day, or the instance leaves', async () => {
    const { clock, refusals, refuse, shown } = setUp()
    for (const name of ['accepted', 'deleted', 'silent', 'refused']) refuse(name, 'not_signed')
    refusals.accepted('accepted')
    refusals.leave('deleted')
    await clock.advance(24 * hour)
    refuse('refused', 'not_signed')
    assert.deepEqual(shown(), ['silent not_signed 1', 'refused not_signed 2'])
    await clock.advance(1)
    assert.deepEqual(shown(), ['refused not_signed 2'])
  })

  test('of another inbox end only with a callback of the own inbox', () => {
    const { refusals, refuse, shown, logs } = setUp()
    refuse('a', 'other_inbox')
    refuse('a', 'wrong_signature')
    refusals.accepted('a')
    refusals.accepted('a')
    assert.deepEqual(shown(), ['a other_inbox 1'])
    refusals.accepted('a', 'inbox 1')
    assert.deepEqual(shown(), [])
    assert.equal(logs.withMessage('callbacks are accepted again').length, 2)
  })

  test('because of the clock are only counted: the clocks have an entry of their own', () => {
    const { counts, refuse, shown, warned } = setUp()
    refuse('a', 'clock_differs')
    assert.deepEqual([counts.get('clock_differs'), shown(), warned()], [1, [], []])
  })

  test('of strangers with unknown names leave ten warnings an hour and nothing in health', async () => {
    const { clock, counts, refuse, shown, warned } = setUp()
    const stranger = { isKnown: false, isProved: false }
    for (let index = 0; index < 5000; index++) refuse(`name-${index}`, 'unknown_instance', stranger)
    assert.deepEqual([warned().length, shown()], [10, []])
    assert.equal(counts.get('unknown_instance'), 5000)
    await clock.advance(hour)
    refuse('a "forged"\nline', 'not_signed', stranger)
    assert.deepEqual(warned().at(-1), 'no valid name not_signed')
  })

  test('of a helpdesk with unknown names are shown, ten at the most', () => {
    const { refuse, shown } = setUp()
    const helpdesk = { isKnown: false, isProved: true }
    for (let index = 0; index < 20; index++) refuse(`name-${index}`, 'unknown_instance', helpdesk)
    refuse('name-0', 'unknown_instance', helpdesk)
    assert.deepEqual([shown().length, shown()[0]], [10, 'name-0 unknown_instance 2'])
  })

  test('of an unknown name end when an instance accepts a callback of the same helpdesk inbox', () => {
    const { refuse, refusals, shown } = setUp()
    refuse('gone', 'unknown_instance', { isKnown: false, inbox: 'inbox 1' })
    refuse('gone', 'unknown_instance', { isKnown: false })
    refuse('other', 'unknown_instance', { isKnown: false, inbox: 'inbox 2' })
    refusals.accepted('a')
    assert.equal(shown().length, 2)
    refusals.accepted('a', 'inbox 1')
    assert.deepEqual(shown(), ['other unknown_instance 1'])
  })
})
