import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../../../test/harness/manual-clock.ts'
import { RememberedHeaders } from './remembered-headers.ts'

const owner = { instance: 'a', destination: 'd1', sender: 'p1' }

function openHistory(perSender = 10) {
  const clock = new ManualClock()
  const history = new RememberedHeaders({ limits: { ttlMs: 1000, perSender }, clock })
  const note = (messageId: number, sender = 'p1') => {
    history.note({ ...owner, sender, chat: '1@g.us', networkId: `W${messageId}`, messageId, header: 'Maria' })
  }
  const found = async (sender = 'p1') =>
    (await history.find({ ...owner, sender })).map(({ messageId, header }) => `${messageId} ${header}`)
  return { clock, history, note, found }
}

test('headers are remembered up to a number and an age', async () => {
  const { clock, note, found, history } = openHistory(2)
  note(1)
  await clock.advance(600)
  note(2)
  note(3)
  assert.deepEqual(await found(), ['3 Maria', '2 Maria'])
  await history.update(owner, ['2'], 'Mary')
  assert.deepEqual(await found(), ['3 Maria', '2 Mary'])
  await clock.advance(999)
  assert.equal((await found()).length, 2)
  await clock.advance(1)
  assert.deepEqual(await found(), [])
})

test('the headers of two records of one person become one list, the newest first', async () => {
  const { note, found, history } = openHistory()
  note(1)
  note(2, 'p2')
  note(3)
  history.merged('b', { keep: 'p1', drop: 'p2' })
  assert.deepEqual(await found('p2'), ['2 Maria'])
  history.merged('a', { keep: 'p1', drop: 'p2' })
  assert.deepEqual(await found('p2'), [])
  assert.deepEqual(await found(), ['3 Maria', '2 Maria', '1 Maria'])
})

test('headers that are too old are forgotten, and those of an instance that leaves', async () => {
  const { clock, note, found, history } = openHistory()
  note(1)
  await clock.advance(1000)
  note(2, 'p2')
  await history.prune()
  assert.deepEqual([await found(), await found('p2')], [[], ['2 Maria']])
  history.leave('a')
  assert.deepEqual(await found('p2'), [])
})
