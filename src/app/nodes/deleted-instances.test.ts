import assert from 'node:assert/strict'
import { test } from 'node:test'
import { allDuties, dutiesOf } from '../../../test/harness/duties.ts'
import { DeletedInstances } from './deleted-instances.ts'

function bed(duties = allDuties) {
  const state = { takes: 0, isAway: false }
  const takeDeleted = () => {
    state.takes++
    return state.isAway ? Promise.reject(new Error('storage is away')) : Promise.resolve()
  }
  return { state, deleted: new DeletedInstances([{ takeDeleted }], duties) }
}

test('the only process reads nothing while it deletes nothing', async () => {
  const { state, deleted } = bed()
  await deleted.look()
  assert.equal(state.takes, 0)
  await deleted.deleted()
  await deleted.look()
  assert.equal(state.takes, 1)
})

test('a deletion that was not followed is followed later', async () => {
  const { state, deleted } = bed()
  state.isAway = true
  await assert.rejects(deleted.deleted())
  await assert.rejects(deleted.look())
  state.isAway = false
  await deleted.look()
  await deleted.look()
  assert.equal(state.takes, 3)
})

test('a node looks for what other nodes have deleted', async () => {
  const { state, deleted } = bed(dutiesOf([]))
  await deleted.look()
  await deleted.look()
  assert.equal(state.takes, 2)
})
