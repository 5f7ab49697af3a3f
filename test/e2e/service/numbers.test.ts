// Whether a phone number has an account of WhatsApp, as a caller asks it: answers, refusals, memory and limit.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { assertRefused } from '../../harness/assertions.ts'
import { engines } from '../../harness/databases.ts'
import type { Answer } from '../../harness/http-request.ts'
import { ManualClock } from '../../harness/manual-clock.ts'
import { manyHours } from '../../harness/stranger.ts'
import { World } from '../../harness/world.ts'

const bobs = { phone: '5511888880001', lid: '200000000000001', pushName: 'Bob' }
const hour = 3_600_000

const ask = (world: World, phone: string, instance = 'n0'): Promise<Answer> =>
  world.service.get(`/api/instances/${instance}/numbers/${encodeURIComponent(phone)}`)

/** How often the network was asked about the numbers of people. */
function questions({ network, phone }: World): number {
  const asked = network.log.find({ account: phone.user.phone, tag: 'iq' })
  return asked.filter(({ direction, node }) => direction === 'in' && JSON.stringify(node).includes('"contact"')).length
}

/** A world whose clock the test moves. The account is ready. */
const openTimed = async () => {
  const clock = new ManualClock(Date.now())
  const world = await World.open({ clock })
  return { clock, world, [Symbol.asyncDispose]: () => world[Symbol.asyncDispose]() }
}

test('a number with an account is found under the spelling of WhatsApp, in any spelling of the caller', async () => {
  await using world = await World.open()
  world.network.person(bobs)
  world.network.person({ phone: '5491155550001', lid: '200000000000002' })
  const bob = { exists: true, jid: '5511888880001@s.whatsapp.net', lid: '200000000000001@lid' }
  for (const spelling of ['5511888880001', '+5511888880001', '+55 (11) 88888-0001', '005511888880001']) {
    assert.deepEqual((await ask(world, spelling)).body, bob, spelling)
  }
  // The caller leaves out the 9 of Argentinian mobiles.
  const other = { exists: true, jid: '5491155550001@s.whatsapp.net', lid: '200000000000002@lid' }
  assert.deepEqual((await ask(world, '+541155550001')).body, other)
})

test('a number without an account does not exist', async () => {
  await using world = await World.open()
  const { status, body } = await ask(world, '4930123456')
  assert.deepEqual({ status, body }, { status: 200, body: { exists: false, jid: null } })
})

test('what is no phone number is refused, and so are an unknown instance and a wrong method', async () => {
  await using world = await World.open()
  const junk = [
    'abc',
    '12',
    '0123456789',
    '++5511888880001',
    '1'.repeat(16),
    '5511888880001@s.whatsapp.net',
    '%00',
    'é',
  ]
  for (const phone of junk) assertRefused(await ask(world, phone), 'SERVICE_BAD_REQUEST', /phone number|characters?/)
  assertRefused(await ask(world, '1'.repeat(400)), 'SERVICE_BAD_REQUEST')
  assertRefused(await ask(world, '5511888880001', 'other'), 'SERVICE_INSTANCE_NOT_FOUND')
  const posted = await world.service.request('POST', '/api/instances/n0/numbers/5511888880001', { body: {} })
  assertRefused(posted, 'SERVICE_METHOD_NOT_ALLOWED')
  assert.equal(questions(world), 0)
})

test('an instance that is not ready refuses the question, also one that it could answer from memory', async () => {
  await using world = await World.open()
  world.network.person(bobs)
  assert.equal((await ask(world, bobs.phone)).status, 200)
  world.network.fault({ kind: 'login_failure', code: 503, times: Infinity })
  await world.network.strike({ kind: 'drop', account: world.phone.user.phone })
  await world.reaches('n0', (state) => state !== 'ready')
  assertRefused(await ask(world, bobs.phone), 'SERVICE_NOT_READY')
})

test('a failure of WhatsApp is told and not remembered', async () => {
  await using world = await World.open()
  world.network.person(bobs)
  world.network.fault({ kind: 'query_error', query: 'usync get usync', code: 500, times: 1 })
  assertRefused(await ask(world, bobs.phone), 'SERVICE_NETWORK_FAILED', /try again/)
  assert.equal((await ask(world, bobs.phone)).status, 200)
})

test(
  'an answer is kept: a day for a number that exists, an hour for one that does not',
  { skip: manyHours },
  async () => {
    await using timed = await openTimed()
    const { clock, world } = timed
    world.network.person(bobs)
    const both = async () => {
      await ask(world, bobs.phone)
      await ask(world, '4930123456')
      return questions(world)
    }
    assert.equal(await both(), 2)
    assert.equal(await both(), 2)
    await clock.advance(hour + 1)
    assert.equal(await both(), 3)
    await clock.advance(23 * hour)
    assert.equal(await both(), 5)
  },
)

test('callers that ask about one number at the same time share a question', async () => {
  await using world = await World.open()
  world.network.person(bobs)
  const answers = await Promise.all(Array.from({ length: 8 }, () => ask(world, bobs.phone)))
  assert.deepEqual(
    answers.map(({ status }) => status),
    Array<number>(8).fill(200),
  )
  assert.equal(questions(world), 1)
})

test('the thirty-first question of a minute is refused until the first one is a minute old', async () => {
  await using timed = await openTimed()
  const { clock, world } = timed
  for (let n = 0; n < 30; n++) assert.equal((await ask(world, `49301234${100 + n}`)).status, 200)
  // An answer from memory does not count.
  assert.equal((await ask(world, '49301234100')).status, 200)
  const refused = await ask(world, '49301234999')
  assertRefused(refused, 'SERVICE_RATE_LIMITED', /try again in \d+ s/)
  const seconds = Number(refused.headers.get('retry-after'))
  assert.ok(seconds >= 1 && seconds <= 60, `retry-after is ${seconds}`)
  await clock.advance(seconds * 1000)
  assert.equal((await ask(world, '49301234999')).status, 200)
})

for (const engine of engines) {
  describe(`a pair of phone and LID on ${engine}`, () => {
    test('that a look-up tells is noted for a person who is known', async () => {
      await using world = await World.open({ engine })
      const { network, phone, service } = world
      const bob = network.person(bobs)
      await world.arrived(bob.text(phone, 'hello'))
      await service.database.write(service.database.query.updateTable('people').set({ lid: null }))
      await world.restart()
      await ask(world, bobs.phone)
      const { database } = world.service
      const people = await database.read(database.query.selectFrom('people').select(['phone', 'lid']))
      assert.deepEqual(people, [{ phone: bobs.phone, lid: bobs.lid }])
    })
  })
}
