import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { OutboxPart, PartState } from '../../../core/outbox.ts'
import { failureReason, unconfirmed } from './failure-reason.ts'

function parts(...states: (PartState | [PartState, string])[]): OutboxPart[] {
  return states.map((each, of) => {
    const [state, refusal] = [each].flat() as [PartState, string?]
    return { id: `W${of}`, of, state, ...(refusal !== undefined && { refusal }) }
  })
}

test('the reason names the parts that are missing, unless all are for the same reason', () => {
  const cases: [OutboxPart[], string][] = [
    [[], 'no number'],
    [parts('new'), 'no number'],
    [parts('new', 'new'), 'no number'],
    [parts(['refused', 'too large']), 'too large'],
    [parts('unknown'), unconfirmed],
    [parts('sent', ['refused', 'too large'], 'sent'), 'part 2 of 3: too large'],
    [parts(['refused', 'a'], 'sent', ['refused', 'a']), 'parts 1, 3 of 3: a'],
    [
      parts(['refused', 'a'], ['refused', 'b'], 'unknown', 'new'),
      `part 1 of 4: a; part 2 of 4: b; part 3 of 4: ${unconfirmed}; part 4 of 4: no number`,
    ],
  ]
  for (const [given, expected] of cases) assert.equal(failureReason(given, 'no number'), expected)
})
