import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../test/harness/manual-clock.ts'
import type { NetworkRestriction } from '../core/network.ts'
import type { Restriction, RestrictionStore } from '../storage/stores/accounts/restriction-store.ts'
import { Restrictions } from './restrictions.ts'

const hour = 3_600_000
const week = 7 * 24 * hour
const inactive = { isActive: false, until: null }
const active = (until: number | null) => ({ isActive: true, until })

type Said = NetworkRestriction | null | Error

function setUp() {
  const clock = new ManualClock(10 * hour)
  const rows = new Map<string, Restriction>()
  const store = {
    find: (instance: string) => Promise.resolve(rows.get(instance)),
    save: (instance: string, row: Restriction) => Promise.resolve(void rows.set(instance, row)),
    remove: (instance: string) => Promise.resolve(void rows.delete(instance)),
  } as unknown as RestrictionStore
  const questions: PromiseWithResolvers<NetworkRestriction | null>[] = []
  const askNetwork = () => {
    const question = Promise.withResolvers<NetworkRestriction | null>()
    questions.push(question)
    return question.promise
  }
  const restrictions = new Restrictions({ store, clock, askNetwork })
  const say = (said: Said) => {
    const question = questions.at(-1)
    if (said instanceof Error) question?.reject(said)
    else question?.resolve(said)
  }
  /** A refusal, and what the network says about the restriction. */
  const refused = (said: Said, instance = 'a') => {
    const meaning = restrictions.record(instance)
    say(said)
    return meaning
  }
  const end = () => restrictions.stopOf('a')?.until
  return { clock, rows, restrictions, questions, say, refused, end, now: clock.now() }
}

test('a restriction lasts until the end that the network names, and the refusal is a strike', async () => {
  const { rows, refused, now, end } = setUp()
  assert.equal(await refused(active(now + 5 * hour)), 'strike')
  assert.equal(end(), now + 5 * hour)
  assert.deepEqual(rows.get('a'), { until: now + 5 * hour, struckAt: now })
})

test('shorter than an hour is believed, longer than a week is not', async () => {
  const { refused, now, end } = setUp()
  await refused(active(now + 60_000))
  assert.equal(end(), now + 60_000)
  await refused(active(now + 1000 * week))
  assert.equal(end(), now + week)
})

for (const [what, until] of [
  ['no time', null],
  ['a time that is over', 1],
] as const) {
  test(`an hour when the network confirms the restriction and names ${what}`, async () => {
    const { refused, now, end } = setUp()
    assert.equal(await refused(active(until)), 'strike')
    assert.equal(end(), now + hour)
  })
}

test('no restriction and no strike when the network reports no restriction', async () => {
  const { rows, refused, end } = setUp()
  assert.equal(await refused(inactive), 'not_restricted')
  assert.equal(end(), undefined)
  assert.equal(rows.size, 0)
})

for (const [what, said] of [
  ['cannot be asked', null],
  ['does not answer', new Error('no answer')],
] as const) {
  test(`ten minutes without first messages, and no strike, when the network ${what}`, async () => {
    const { restrictions, rows, refused, clock, now } = setUp()
    assert.equal(await refused(said), 'not_restricted')
    assert.deepEqual(restrictions.stopOf('a'), { until: now + 600_000, isConfirmed: false })
    assert.equal(rows.size, 0)
    await clock.advance(600_000)
    assert.equal(restrictions.stopOf('a'), undefined)
    assert.equal(await refused(active(null)), 'strike', 'the unanswered question was no strike')
    assert.equal(restrictions.stopOf('a')?.isConfirmed, true)
  })
}

test('of messages that are refused together without an answer, none is called restricted', async () => {
  const { restrictions, say } = setUp()
  const meanings = [restrictions.record('a'), restrictions.record('a')]
  say(null)
  assert.deepEqual(await Promise.all(meanings), ['not_restricted', 'not_restricted'])
})

test('an answer ends the ten minutes', async () => {
  const { restrictions, refused } = setUp()
  await refused(null)
  assert.equal(await refused(inactive), 'not_restricted')
  assert.equal(restrictions.stopOf('a'), undefined)
})

test('a clock that is put back does not make the ten minutes longer', async () => {
  const { restrictions, refused, clock } = setUp()
  await refused(null)
  clock.set(-hour)
  await clock.advance(600_000)
  assert.equal(restrictions.stopOf('a'), undefined)
})

test('the ten minutes end with the memory of the instance', async () => {
  const { restrictions, refused } = setUp()
  await refused(null)
  restrictions.leave('a')
  assert.equal(restrictions.stopOf('a'), undefined)
})

test('another refusal does not shorten what the network said', async () => {
  const { clock, refused, now, end } = setUp()
  await refused(active(now + 5 * hour))
  await clock.advance(2 * hour)
  assert.equal(await refused(active(null)), 'strike')
  assert.equal(end(), now + 5 * hour)
  assert.equal(await refused(new Error('no answer')), 'restricted')
  assert.equal(end(), now + 5 * hour)
})

test('a restriction ends when the network says that there is none', async () => {
  const { rows, refused, now, end } = setUp()
  await refused(active(now + 5 * hour))
  assert.equal(await refused(inactive), 'not_restricted')
  assert.equal(end(), undefined)
  assert.deepEqual(rows.get('a'), { until: now, struckAt: now })
})

test('messages that are refused at the same time ask once and are one strike', async () => {
  const { restrictions, questions, say, now } = setUp()
  const meanings = [restrictions.record('a'), restrictions.record('a')]
  assert.equal(questions.length, 1)
  say(active(now + hour))
  assert.deepEqual(await Promise.all(meanings), ['strike', 'restricted'])
})

test('a strike that a wrong clock dated an hour ahead does not hide the next one', async () => {
  const { clock, refused } = setUp()
  clock.set(hour)
  assert.equal(await refused(active(null)), 'strike')
  clock.set(-hour)
  await clock.advance(60_000)
  assert.equal(await refused(active(null)), 'strike')
  await clock.advance(1000)
  assert.equal(await refused(active(null)), 'restricted')
})

test('an answer that comes late says nothing about an account that is gone', async () => {
  const { restrictions, rows, say, refused, now, end } = setUp()
  const meaning = restrictions.record('a')
  restrictions.leave('a')
  say(active(now + 5 * hour))
  assert.equal(await meaning, 'not_restricted')
  assert.equal(end(), undefined)
  assert.equal(rows.size, 0)
  assert.equal(await refused(active(null)), 'strike', 'a new account of this name has its own restriction')
})
