import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../test/harness/manual-clock.ts'
import type { Restriction, RestrictionStore } from '../storage/stores/accounts/restriction-store.ts'
import { Restrictions } from './restrictions.ts'

const hour = 3_600_000
const week = 7 * 24 * hour

function setUp() {
  const clock = new ManualClock(10 * hour)
  const rows = new Map<string, Restriction>()
  const store = {
    find: (instance: string) => Promise.resolve(rows.get(instance)),
    save: (instance: string, row: Restriction) => Promise.resolve(void rows.set(instance, row)),
    remove: (instance: string) => Promise.resolve(void rows.delete(instance)),
  } as unknown as RestrictionStore
  const answers: PromiseWithResolvers<number | null>[] = []
  const askNetwork = () => {
    const answer = Promise.withResolvers<number | null>()
    answers.push(answer)
    return answer.promise
  }
  const restrictions = new Restrictions({ store, clock, askNetwork })
  const said = async (each: number | null | Error, which = answers.length - 1) => {
    if (each instanceof Error) answers[which]?.reject(each)
    else answers[which]?.resolve(each)
    await new Promise(setImmediate)
  }
  return { clock, rows, restrictions, said, now: clock.now() }
}

test('an hour until the network has said when it ends, then until that', async () => {
  const { restrictions, rows, said, now } = setUp()
  assert.equal(await restrictions.record('a'), true)
  assert.equal(restrictions.until('a'), now + hour)
  await said(now + 5 * hour)
  assert.equal(restrictions.until('a'), now + 5 * hour)
  assert.deepEqual(rows.get('a'), { until: now + 5 * hour, struckAt: now })
})

test('shorter than an hour is believed, longer than a week is not', async () => {
  const { restrictions, said, now } = setUp()
  await restrictions.record('a')
  await said(now + 60_000)
  assert.equal(restrictions.until('a'), now + 60_000)
  await restrictions.record('a')
  await said(now + 1000 * week)
  assert.equal(restrictions.until('a'), now + week)
})

for (const [what, answer] of [
  ['no time', null],
  ['a time that is over', 1],
  ['nothing', new Error('no answer')],
] as const) {
  test(`an hour when the network says ${what}`, async () => {
    const { restrictions, said, now } = setUp()
    await restrictions.record('a')
    await said(answer)
    assert.equal(restrictions.until('a'), now + hour)
  })
}

test('another refusal does not shorten what the network said', async () => {
  const { restrictions, clock, said, now } = setUp()
  await restrictions.record('a')
  await said(now + 5 * hour)
  await clock.advance(2 * hour)
  assert.equal(await restrictions.record('a'), true)
  await said(null)
  assert.equal(restrictions.until('a'), now + 5 * hour)
})

test('a strike that a wrong clock dated an hour ahead does not hide the next one', async () => {
  const { restrictions, clock } = setUp()
  clock.set(hour)
  assert.equal(await restrictions.record('a'), true)
  clock.set(-hour)
  await clock.advance(60_000)
  assert.equal(await restrictions.record('a'), true)
  await clock.advance(1000)
  assert.equal(await restrictions.record('a'), false)
})

test('an answer that comes late says nothing about an account that is gone, or was refused again', async () => {
  const { restrictions, rows, said, now } = setUp()
  await restrictions.record('a')
  await restrictions.forget('a')
  await said(now + 5 * hour)
  assert.equal(restrictions.until('a'), undefined)
  assert.equal(rows.size, 0)
  await restrictions.record('b')
  await restrictions.record('b')
  await said(now + 5 * hour, 2)
  await said(now + 2 * hour, 1)
  assert.equal(restrictions.until('b'), now + 5 * hour)
})
