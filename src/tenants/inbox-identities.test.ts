import assert from 'node:assert/strict'
import { test } from 'node:test'
import { silentLog } from '../../test/harness/logs.ts'
import { ManualClock } from '../../test/harness/manual-clock.ts'
import { DownstreamError } from '../core/downstream.ts'
import type { HelpdeskInbox } from '../core/downstream.ts'
import { InboxIdentities } from './inbox-identities.ts'

const access = { baseUrl: 'https://desk', accountId: 1, inboxId: 1, apiToken: 't' }
const place = 'https://desk|1|1'
const minute = 60_000

/** Every question to the helpdesk waits until the test answers it. An identifier is its own key. */
function setUp() {
  const clock = new ManualClock()
  const probes: PromiseWithResolvers<string | null>[] = []
  const bed = { stored: place, movedTo: null as string | null, identified: 0 }
  const store = {
    keyAt: () => Promise.resolve(bed.stored),
    identify: (_: string, key: string) => {
      bed.identified++
      return Promise.resolve({ key, before: place, movedTo: bed.movedTo })
    },
  }
  const probe = () => {
    const answer = Promise.withResolvers<string | null>()
    probes.push(answer)
    return answer.promise
  }
  const helpdesk = () => ({ probe }) as unknown as HelpdeskInbox
  const identities = new InboxIdentities({ store, downstream: { helpdesk }, clock, log: silentLog })
  return { clock, probes, bed, identities }
}

const refused = () => new DownstreamError('destination', 'wrong token')

async function identified(set: ReturnType<typeof setUp>, identifier: string | null): Promise<string> {
  const asked = set.identities.identify(access)
  set.probes.at(-1)?.resolve(identifier)
  return (await asked).key
}

test('the helpdesk is asked once for all callers, and not again for ten minutes', async () => {
  const { clock, probes, identities } = setUp()
  const asked = [identities.identify(access), identities.identifyInTime(access), identities.identify(access)]
  probes[0]?.resolve('X')
  assert.deepEqual(
    (await Promise.all(asked)).map(({ key }) => key),
    ['X', 'X', 'X'],
  )
  await clock.advance(10 * minute - 1)
  assert.deepEqual(await identities.identify(access), { ...access, key: 'X' })
  assert.equal(probes.length, 1)
})

test('after ten minutes the helpdesk is asked in the background, and what it says counts from then on', async () => {
  const set = setUp()
  await identified(set, 'X')
  await set.clock.advance(10 * minute)
  assert.equal((await set.identities.identify(access)).key, 'X')
  assert.equal((await set.identities.identifyInTime(access)).key, 'X')
  assert.equal(set.probes.length, 2)
  set.probes[1]?.resolve('Y')
  await set.clock.advance(0)
  assert.equal((await set.identities.identify(access)).key, 'Y')
})

test('a failure in the background changes nothing', async () => {
  const set = setUp()
  await identified(set, 'X')
  await set.clock.advance(10 * minute)
  await set.identities.identify(access)
  set.probes[1]?.reject(refused())
  await set.clock.advance(0)
  assert.equal((await set.identities.identify(access)).key, 'X')
  assert.equal(set.probes.length, 2)
})

test('a helpdesk that shows no identifier keeps the key that its place has', async () => {
  const set = setUp()
  assert.equal(await identified(set, null), place)
  assert.equal(set.bed.identified, 0)
})

test('a failure is told to a caller that must know the inbox, and the next caller asks again', async () => {
  const { probes, identities } = setUp()
  const asked = identities.identify(access)
  probes[0]?.reject(refused())
  await assert.rejects(asked, /wrong token/)
  const again = identities.identify(access)
  probes[1]?.resolve('X')
  assert.equal((await again).key, 'X')
})

test('another token is another question', async () => {
  const set = setUp()
  await identified(set, 'X')
  void set.identities.identifyInTime({ ...access, apiToken: 'new' })
  assert.equal(set.probes.length, 2)
})

test('an inbox that was held is asked again before it is used', async () => {
  const set = setUp()
  await identified(set, 'X')
  set.identities.forget(access)
  assert.equal(await identified(set, 'Y'), 'Y')
  assert.equal(set.probes.length, 2)
})

test('a callback waits 2 s for the helpdesk and then uses the stored key; the callbacks after it do not wait', async () => {
  const { clock, probes, bed, identities } = setUp()
  bed.stored = 'stored'
  const asked = identities.identifyInTime(access)
  await clock.advance(1999)
  let isAnswered = false
  void asked.then(() => (isAnswered = true))
  await clock.advance(0)
  assert.equal(isAnswered, false)
  await clock.advance(1)
  assert.equal((await asked).key, 'stored')
  const next = identities.identifyInTime(access)
  await clock.advance(0)
  assert.equal((await next).key, 'stored')
  assert.equal(probes.length, 1)
  probes[0]?.resolve('X')
  await clock.advance(0)
  assert.equal((await identities.identifyInTime(access)).key, 'X')
})

test('a helpdesk that refuses is not asked for every callback', async () => {
  const { clock, probes, identities } = setUp()
  const asked = identities.identifyInTime(access)
  probes[0]?.reject(refused())
  assert.equal((await asked).key, place)
  assert.equal((await identities.identifyInTime(access)).key, place)
  await clock.advance(29_999)
  await identities.identifyInTime(access)
  assert.equal(probes.length, 1)
  await clock.advance(1)
  void identities.identifyInTime(access)
  assert.equal(probes.length, 2)
})

test('after rows were moved the inbox is looked at again in 10 s, and keys from before mean the same inbox', async () => {
  const set = setUp()
  set.bed.movedTo = 'X'
  await identified(set, 'X')
  const destination = { ...access, key: 'X' }
  assert.ok(set.identities.isSame(place, destination))
  assert.ok(set.identities.isSame('X', destination))
  assert.ok(!set.identities.isSame('Y', destination))
  await set.clock.advance(10_000)
  await set.identities.identify(access)
  set.probes[1]?.resolve('X')
  await set.clock.advance(0)
  assert.equal(set.bed.identified, 2)
  await set.clock.advance(9 * minute)
  await set.identities.identify(access)
  assert.equal(set.probes.length, 2)
})
