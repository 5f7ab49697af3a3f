// Messages to groups: every member reads them while members come and go, and the network is asked only when needed.
// Runs alone: it measures CPU time.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SimGroup } from '../../../sim/network/groups/sim-group.ts'
import type { Correspondent } from '../../../sim/network/people/correspondent.ts'
import type { User } from '../../../sim/network/server/user.ts'
import { SendError } from '../../../src/core/network.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { Bed } from '../harness/bed.ts'
import { plain } from '../harness/contents.ts'

async function stage(size: number, devices = 1) {
  const bed = await Bed.open()
  const phone = await bed.linked('s')
  const people = Array.from({ length: size }, (_, n) => bed.sim.person({ phone: `5511888880${100 + n}`, devices }))
  const [founder, ...others] = people
  if (!founder) throw new Error('a group needs a founder')
  const group: SimGroup = bed.sim.group('Team', founder, [phone, ...others])
  const { session } = await bed.online('s')
  const queries = () => bed.sim.log.find({ tag: 'iq' }).filter((one) => one.direction === 'in').length
  return {
    bed,
    phone,
    people,
    founder,
    group,
    session,
    queries,
    [Symbol.asyncDispose]: () => bed[Symbol.asyncDispose](),
  }
}

async function allRead(people: readonly Correspondent[], id: string): Promise<void> {
  await waitUntil(`${id} is read by all`, () =>
    people.every((one) => one.messages.entries.some((each) => each.id === id)),
  )
  assert.equal(people.flatMap((one) => one.undecryptable.entries).length, 0)
}

test('all devices of all members read a group message, and the phone of the account too', async () => {
  await using set = await stage(3, 2)
  const { phone, people, group, session } = set
  await session.send(group.jid, plain('hello'), '3EB0000000000001')
  await allRead(people, '3EB0000000000001')
  for (const { opened } of people) assert.deepEqual(opened.entries.map(({ device }) => device).toSorted(), [0, 1])
  await phone.messages.waitFor('the copy on the phone', (one) => one.id === '3EB0000000000001')
})

test('a group of a hundred is asked about once, not for every message', async () => {
  await using set = await stage(100)
  const { people, group, session, queries } = set
  await session.send(group.jid, plain('first'), '3EB0000000000000')
  await session.send(group.jid, plain('second'), '3EB0000000000001')
  const before = queries()
  const cpu = process.cpuUsage()
  for (let n = 2; n < 12; n++) await session.send(group.jid, plain(`${n}`), `3EB0C${n}`)
  assert.equal(queries(), before)
  const { user, system } = process.cpuUsage(cpu)
  const perMessage = (user + system) / 1000 / 10
  // All of the hundred members are simulated in this process too: they need most of it.
  assert.ok(perMessage < 1_000, `${perMessage} ms of CPU for a message`)
  await allRead(people, '3EB0C11')
})

test('messages at once share one question about the group', async () => {
  await using set = await stage(3)
  const { bed, people, group, session } = set
  await Promise.all(Array.from({ length: 5 }, (_, n) => session.send(group.jid, plain(`${n}`), `3EB0D${n}`)))
  for (let n = 0; n < 5; n++) await allRead(people, `3EB0D${n}`)
  const asked = bed.sim.log.find({ tag: 'iq' }).filter(({ attrs }) => attrs['to'] === group.jid)
  assert.equal(asked.length, 1)
})

test('a member who joins reads the next message, a member who left does not', async () => {
  await using set = await stage(3)
  const { bed, people, founder, group, session } = set
  await session.send(group.jid, plain('one'), '3EB0000000000001')
  const eve = bed.sim.person({ phone: '5511777770001' })
  const gone = people[2]
  if (!gone) throw new Error('there is no third')
  group.change(founder.user, 'add', eve.user)
  group.change(founder.user, 'remove', gone.user)
  await session.probe(60_000)
  await session.send(group.jid, plain('two'), '3EB0000000000002')
  await allRead([...people.slice(0, 2), eve], '3EB0000000000002')
  assert.equal(gone.messages.length, 1)
})

test('a member without any device does not keep the others from the message, and is not asked about each time', async () => {
  await using set = await stage(3)
  const { people, group, session, queries } = set
  people[2]?.user.devices.clear()
  const say = async (id: string) => {
    await session.send(group.jid, plain('hello'), id)
    await allRead(people.slice(0, 2), id)
  }
  await say('3EB0000000000001')
  // Once more, because the first answer has changed what is remembered.
  await say('3EB0000000000002')
  const asked = queries()
  await say('3EB0000000000003')
  assert.equal(queries(), asked)
})

const isNotSent = (error: unknown) => error instanceof SendError && error.outcome === 'not_sent'

for (const [who, makeSo] of [
  ['whose devices the network does not name', (user: User) => (user.isUnnamed = true)],
  ['whose keys are not to be had', (user: User) => (user.hasNoKeys = true)],
] as const) {
  test(`a member ${who} does not keep the others from the message, and asks for it`, async () => {
    await using set = await stage(4, 2)
    const { phone, people, group, session } = set
    const [odd, ...others] = people
    if (odd) makeSo(odd.user)
    await session.send(group.jid, plain('hello'), '3EB0000000000001')
    await allRead([...others, phone], '3EB0000000000001')
    await waitUntil('both devices have what they asked for', () => odd?.opened.length === 2)
    await session.send(group.jid, plain('next'), '3EB0000000000002')
    await allRead([...others, phone], '3EB0000000000002')
    await odd?.messages.waitFor('the next message', (one) => one.id === '3EB0000000000002')
    assert.ok((odd?.undecryptable.entries ?? []).every(({ id }) => id === '3EB0000000000001'))
    // Who did not ask is not sent it again.
    for (const { duplicates } of [...others, phone]) assert.equal(duplicates, 0)
  })

  test(`a member ${who} does not keep the others from asking for a message again`, async () => {
    await using set = await stage(4)
    const { phone, people, group, session } = set
    const [first, second, ...others] = people
    const asking = [...others, phone]
    if (first && second) for (const { user } of [first, second]) makeSo(user)
    await session.send(group.jid, plain('one'), '3EB0000000000001')
    await allRead(asking, '3EB0000000000001')
    for (const { device } of asking) device.forgetEverything()
    await session.send(group.jid, plain('two'), '3EB0000000000002')
    for (const one of [...people, phone]) {
      await one.messages.waitFor('the message', ({ id }) => id === '3EB0000000000002')
    }
  })
}

test('a member gets the key as soon as a session with them can be opened', async () => {
  await using set = await stage(2)
  const { people, group, session } = set
  const [odd] = people
  if (!odd) throw new Error('there is no member')
  // A phone that is off asks for nothing.
  odd.user.hasNoKeys = true
  const [[id, device] = []] = odd.user.devices
  if (id === undefined || !device) throw new Error('there is no device')
  Object.assign(device, { deliver: () => undefined })
  await session.send(group.jid, plain('one'), '3EB0000000000001')
  odd.user.hasNoKeys = false
  Reflect.deleteProperty(device, 'deliver')
  await session.send(group.jid, plain('two'), '3EB0000000000002')
  await allRead(people, '3EB0000000000002')
})

for (const [what, makeSo] of [
  ['names', (user: User) => (user.isUnnamed = true)],
  ['has keys of', (user: User) => (user.hasNoKeys = true)],
  ['knows devices of', ({ devices }: User) => [...devices.keys()].map((id) => devices.delete(id))],
] as const) {
  test(`when the network ${what} no user but the account itself, nothing is sent`, async () => {
    await using set = await stage(2)
    const { bed, people, group, session } = set
    for (const { user } of people) makeSo(user)
    await assert.rejects(session.send(group.jid, plain('hello'), '3EB0000000000001'), isNotSent)
    assert.equal(bed.sim.log.find({ tag: 'message' }).length, 0)
  })
}

test('while the question about devices fails nothing is sent, and every member reads the message later', async () => {
  await using set = await stage(3)
  const { bed, people, founder, group, session } = set
  await session.send(group.jid, plain('one'), '3EB0000000000001')
  const eve = bed.sim.person({ phone: '5511777770001' })
  group.change(founder.user, 'add', eve.user)
  await session.probe(60_000)
  bed.sim.fault({ kind: 'query_error', query: 'usync get usync', code: 500 })
  await assert.rejects(session.send(group.jid, plain('two'), '3EB0000000000002'), isNotSent)
  const refuse = bed.sim.router.override('usync get usync', () => [
    {
      tag: 'usync',
      attrs: {},
      content: [
        {
          tag: 'result',
          attrs: {},
          content: [{ tag: 'devices', attrs: {}, content: [{ tag: 'error', attrs: { code: '500' } }] }],
        },
        { tag: 'list', attrs: {}, content: [] },
      ],
    },
  ])
  await assert.rejects(session.send(group.jid, plain('two'), '3EB0000000000002'), isNotSent)
  refuse()
  await session.send(group.jid, plain('two'), '3EB0000000000002')
  await allRead([...people, eve], '3EB0000000000002')
})

test('a group without other members takes a message', async () => {
  await using set = await stage(1)
  const { phone, founder, group, session } = set
  group.change(founder.user, 'remove', founder.user)
  await session.probe(60_000)
  await session.send(group.jid, plain('note'), '3EB0000000000001')
  await phone.messages.waitFor('the copy on the phone', (one) => one.id === '3EB0000000000001')
})

test('a message whose frame is lost leaves no member without the key', async () => {
  await using set = await stage(2)
  const { bed, people, group, session } = set
  bed.sim.fault({ kind: 'ack_error', code: 500 })
  await assert.rejects(session.send(group.jid, plain('lost'), '3EB0000000000001'))
  await session.send(group.jid, plain('next'), '3EB0000000000002')
  await allRead(people, '3EB0000000000002')
})

test('a group the account is not in is refused', async () => {
  await using set = await stage(2)
  const { bed, people, session } = set
  const [one, other] = people
  if (!one || !other) throw new Error('there are not enough')
  const closed = bed.sim.group('Others', one, [other])
  const isRefused = (error: unknown) => error instanceof SendError && error.outcome === 'refused'
  await assert.rejects(session.send(closed.jid, plain('hello'), '3EB0000000000001'), isRefused)
})
