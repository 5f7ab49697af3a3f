import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../../test/harness/manual-clock.ts'
import { OwnChanges } from './own-changes.ts'

const desk = 'https://desk|1|1'

function begin() {
  const clock = new ManualClock()
  const changes = new OwnChanges({ clock })
  changes.begun(desk, 6)
  changes.planned(desk, 6, 9000)
  return { clock, changes }
}

test('a change is answered when its callback was answered', () => {
  const { changes } = begin()
  assert.equal(changes.areAnswered(desk, 6, 9000), false)
  changes.answered(desk, 7)
  changes.answered('another', 6)
  assert.equal(changes.areAnswered(desk, 6, 9000), false)
  changes.answered(desk, 6)
  assert.equal(changes.areAnswered(desk, 6, 9000), true)
})

test('a callback can come before the answer to the change', () => {
  const { changes } = begin()
  changes.begun(desk, 7)
  changes.answered(desk, 7)
  assert.equal(changes.areAnswered(desk, 7, 9000), false)
  changes.planned(desk, 7, 9000)
  assert.equal(changes.areAnswered(desk, 7, 9000), true)
})

test('two changes need two callbacks, and a repeated callback does not count for a later change', () => {
  const { changes } = begin()
  changes.begun(desk, 6)
  changes.planned(desk, 6, 9500)
  changes.answered(desk, 6)
  assert.equal(changes.areAnswered(desk, 6, 9500), false)
  for (let n = 0; n < 3; n++) changes.answered(desk, 6)
  assert.equal(changes.areAnswered(desk, 6, 9500), true)
  changes.begun(desk, 6)
  changes.planned(desk, 6, 12_000)
  assert.equal(changes.areAnswered(desk, 6, 12_000), false)
})

test('a look that was planned for another reason is not answered', () => {
  const { changes } = begin()
  changes.answered(desk, 6)
  assert.equal(changes.areAnswered(desk, 6, 8999), false)
})

test('changes are forgotten after a minute, and the oldest of too many at once', async () => {
  const { clock, changes } = begin()
  changes.answered(desk, 6)
  for (let n = 100; n < 10_100; n++) changes.begun(desk, n)
  assert.equal(changes.areAnswered(desk, 6, 9000), false)
  changes.answered(desk, 100)
  changes.planned(desk, 100, 9000)
  assert.equal(changes.areAnswered(desk, 100, 9000), true)
  await clock.advance(60_000)
  assert.equal(changes.areAnswered(desk, 100, 9000), false)
})
