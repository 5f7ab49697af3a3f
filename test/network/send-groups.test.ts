// Messages to groups: everybody in it reads them, whoever comes and goes, and the network is asked only when needed.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SimGroup } from '../../sim/network/groups/sim-group.ts'
import type { SimPerson } from '../../sim/network/people/sim-person.ts'
import { SendError } from '../../src/core/network.ts'
import { waitUntil } from '../harness/wait-until.ts'
import { Bed } from './harness/bed.ts'
import { plain } from './harness/contents.ts'

async function stage(size: number, devices = 1) {
  const bed = await Bed.open()
  const phone = await bed.linked('s')
  const people = Array.from({ length: size }, (_, n) => bed.sim.person({ phone: `5511888880${100 + n}`, devices }))
  const [founder, ...others] = people
  if (!founder) throw new Error('a group needs somebody')
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

async function allRead(people: readonly SimPerson[], id: string): Promise<void> {
  await waitUntil(`${id} is read by all`, () =>
    people.every((one) => one.messages.entries.some((each) => each.id === id)),
  )
  assert.equal(people.flatMap((one) => one.undecryptable.entries).length, 0)
}

test('all devices of all members read it, and the own phone too', async () => {
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

test('who joins reads the next message, who leaves does not', async () => {
  await using set = await stage(3)
  const { bed, people, founder, group, session } = set
  await session.send(group.jid, plain('one'), '3EB0000000000001')
  const eve = bed.sim.person({ phone: '5511777770001' })
  const gone = people[2]
  if (!gone) throw new Error('there is no third')
  group.change(founder.user, 'add', eve.user)
  group.change(founder.user, 'remove', gone.user)
  await session.probe(5_000)
  await session.send(group.jid, plain('two'), '3EB0000000000002')
  await allRead([...people.slice(0, 2), eve], '3EB0000000000002')
  assert.equal(gone.messages.length, 1)
})

test('a member without any device does not keep the others from the message', async () => {
  await using set = await stage(3)
  const { people, group, session } = set
  people[2]?.user.devices.clear()
  await session.send(group.jid, plain('hello'), '3EB0000000000001')
  await allRead(people.slice(0, 2), '3EB0000000000001')
})

test('a member whose devices the network does not name keeps the message back', async () => {
  await using set = await stage(2)
  const { bed, people, group, session } = set
  const forget = bed.sim.router.override('usync get usync', () => [
    { tag: 'usync', attrs: {}, content: [{ tag: 'list', attrs: {}, content: [] }] },
  ])
  const isNotSent = (error: unknown) => error instanceof SendError && error.outcome === 'not_sent'
  await assert.rejects(session.send(group.jid, plain('hello'), '3EB0000000000001'), isNotSent)
  forget()
  await session.send(group.jid, plain('hello'), '3EB0000000000001')
  await allRead(people, '3EB0000000000001')
})

test('a message whose frame is lost leaves nobody without the key', async () => {
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
