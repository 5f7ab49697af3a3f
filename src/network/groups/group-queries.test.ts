// The deadline of a call that asks several questions.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sleep } from '../../lib/clock.ts'
import { ManualClock } from '../../../test/harness/manual-clock.ts'
import { GroupQueries } from './group-queries.ts'

test('the questions of one call share ten seconds', async () => {
  const clock = new ManualClock()
  const answer = { tag: 'iq', attrs: { type: 'result' } }
  const groups = new GroupQueries({ clock, queries: { query: () => sleep(clock, 6_000).then(() => answer) } })
  const ask = () => groups.read('120363000000000001')
  const one = groups.within('change', ask)
  const two = assert.rejects(
    groups.within('change', async () => {
      await ask()
      await ask()
    }),
    { failure: 'failed' },
  )
  await clock.advance(10_000)
  assert.equal(await one, answer)
  await two
})
