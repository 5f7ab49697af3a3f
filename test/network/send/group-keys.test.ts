// The account's key of a group: a new phone gets it again, and a former member cannot read later messages.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SimPerson } from '../../../sim/network/people/sim-person.ts'
import type { Addressing, Device } from '../../../sim/network/server/user.ts'
import { child, children } from '../../../sim/network/wire/stanza.ts'
import type { NetworkSession } from '../../../src/core/network.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { Bed } from '../harness/bed.ts'
import { plain } from '../harness/contents.ts'

class Stage implements AsyncDisposable {
  readonly bed: Bed
  readonly people: readonly [SimPerson, SimPerson, SimPerson]
  readonly group: ReturnType<Bed['sim']['group']>
  session: NetworkSession
  #messages = 0

  private constructor(bed: Bed, session: NetworkSession, people: Stage['people'], group: Stage['group']) {
    this.bed = bed
    this.session = session
    this.people = people
    this.group = group
  }

  static async open({ addressing = 'lid', devices = 1 }: { addressing?: Addressing; devices?: number } = {}) {
    const bed = await Bed.open()
    const phone = await bed.linked('s')
    const person = (n: number) => bed.sim.person({ phone: `551188888000${n}`, devices })
    const people = [person(1), person(2), person(3)] as const
    const [founder, ...others] = people
    const group = bed.sim.group('Team', founder, [phone, ...others], addressing)
    const { session } = await bed.online('s')
    return new Stage(bed, session, people, group)
  }

  /** Sends a text to the group and returns its id. */
  async say(text: string): Promise<string> {
    this.#messages += 1
    const id = `3EB000000000000${this.#messages}`
    await this.session.send(this.group.jid, plain(text), id)
    return id
  }

  /** The devices that got the key with this message. */
  given(id: string): string[] {
    const [sent] = this.bed.sim.log.find({ tag: 'message' }).filter(({ attrs }) => attrs['id'] === id)
    return children(child(sent?.node, 'participants'), 'to').flatMap(({ attrs }) => attrs['jid'] ?? [])
  }

  /** Waits until the service has handled everything that the server has sent so far. */
  async settled(): Promise<void> {
    await this.session.probe(60_000)
    await waitUntil('all notices are confirmed', () => this.bed.sim.phone('5511999990001')?.companion.books.size === 0)
  }

  /** Plays a restart of the service, with something that happens meanwhile. */
  async restart(meanwhile: () => void = () => undefined): Promise<void> {
    await this.bed.network.release('s')
    meanwhile()
    this.session = (await this.bed.online('s')).session
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.bed[Symbol.asyncDispose]()
  }
}

async function read(people: readonly SimPerson[], id: string): Promise<void> {
  for (const { messages } of people) await messages.waitFor(`the message ${id}`, (one) => one.id === id)
  const unread = people.flatMap(({ undecryptable }) => undecryptable.entries)
  assert.deepEqual(unread, [])
}

/** Adds the devices to those that get every ciphertext of the group. */
function listen({ group }: Stage, devices: Iterable<Device>): void {
  for (const device of devices) group.listeners.add(device)
}

/** The device gets the ciphertext and cannot open it. */
async function cannotRead({ opened, undecryptable }: SimPerson, id: string, device = 0): Promise<void> {
  const isOpened = () => opened.entries.some((one) => one.id === id && one.device === device)
  await waitUntil(`${id} is tried`, () => isOpened() || undecryptable.entries.some((one) => one.id === id))
  assert.equal(isOpened(), false, 'the device opened the message')
}

test('a member with a new phone reads the next message, and only this member gets the key again', async () => {
  await using stage = await Stage.open()
  const { people } = stage
  const [, bob] = people
  await read(people, await stage.say('one'))
  bob.reinstall()
  await stage.settled()
  const id = await stage.say('two')
  await read(people, id)
  assert.deepEqual(stage.given(id), [bob.user.lidJid])
  assert.deepEqual(stage.given(await stage.say('three')), [])
})

test('a member with a new phone reads the next message after a restart', async () => {
  await using stage = await Stage.open()
  const { people } = stage
  const [, bob, eve] = people
  await read(people, await stage.say('one'))
  bob.reinstall()
  await stage.settled()
  // Eve gets her new phone while the service is away.
  await stage.restart(() => {
    eve.reinstall()
  })
  await stage.settled()
  const id = await stage.say('two')
  await read(people, id)
  assert.deepEqual(stage.given(id).toSorted(), [bob.user.lidJid, eve.user.lidJid].toSorted())
})

for (const addressing of ['lid', 'pn'] as const) {
  test(`a new identity in a message counts too, in a group addressed by ${addressing}`, async () => {
    await using stage = await Stage.open({ addressing })
    const { bed, people } = stage
    const [, bob] = people
    const ana = bed.sim.phone('5511999990001')
    assert.ok(ana)
    await bed.event(bob.text(ana, 'from the old phone').id)
    await read(people, await stage.say('one'))
    bob.reinstall({ isTold: false })
    await bed.event(bob.text(ana, 'from the new phone').id)
    const id = await stage.say('two')
    await read(people, id)
    assert.deepEqual(stage.given(id), [bob.user.jid(addressing)])
  })
}

for (const addressing of ['lid', 'pn'] as const) {
  test(`a removed member cannot read later messages, in a group addressed by ${addressing}`, async () => {
    await using stage = await Stage.open({ addressing })
    const { people, group } = stage
    const [founder, bob, eve] = people
    await read(people, await stage.say('one'))
    group.change(founder.user, 'remove', eve.user)
    listen(stage, eve.user.devices.values())
    await stage.settled()
    const id = await stage.say('two')
    await read([founder, bob], id)
    await cannotRead(eve, id)
    // Eve asks for the message. She gets neither the message nor the key.
    await stage.settled()
    const next = await stage.say('three')
    await read([founder, bob], next)
    await cannotRead(eve, next)
  })
}

test('a member who leaves while the service is away cannot read later messages', async () => {
  await using stage = await Stage.open()
  const { people, group } = stage
  const [founder, bob, eve] = people
  await read(people, await stage.say('one'))
  await stage.restart(() => {
    group.leave(eve.user)
    listen(stage, eve.user.devices.values())
  })
  const id = await stage.say('two')
  await read([founder, bob], id)
  await cannotRead(eve, id)
})

test('a former member cannot read later messages if the notice of the removal is lost', async () => {
  await using stage = await Stage.open()
  const { people, group } = stage
  const [founder, bob, eve] = people
  await read(people, await stage.say('one'))
  await stage.restart(() => {
    group.roles.delete(eve.user)
    listen(stage, eve.user.devices.values())
  })
  const id = await stage.say('two')
  await read([founder, bob], id)
  await cannotRead(eve, id)
})

test('a former member cannot read later messages if the message with the key was never acknowledged', async () => {
  await using stage = await Stage.open()
  const { bed, people, group } = stage
  const [founder, bob, eve] = people
  bed.sim.fault({ kind: 'lost_ack' })
  const first = stage.say('one').catch(() => undefined)
  await eve.messages.waitFor('the first message', () => true)
  await stage.restart(() => {
    group.roles.delete(eve.user)
    listen(stage, eve.user.devices.values())
  })
  await first
  const id = await stage.say('two')
  await read([founder, bob], id)
  await cannotRead(eve, id)
})

test('a member who leaves and comes back gets the key again', async () => {
  await using stage = await Stage.open()
  const { people, group } = stage
  const [, , eve] = people
  await read(people, await stage.say('one'))
  group.leave(eve.user)
  eve.device.forgetSenderKeys()
  await stage.settled()
  await stage.restart(() => {
    group.join(eve.user)
  })
  await read(people, await stage.say('two'))
})

test('a device that its owner has logged out cannot read later messages', async () => {
  await using stage = await Stage.open({ devices: 2 })
  const { people } = stage
  const [, bob] = people
  const laptop = [...bob.user.devices.values()][1]
  assert.ok(laptop)
  await read(people, await stage.say('one'))
  bob.removeDevice(bob.deviceAt(1))
  listen(stage, [laptop])
  await stage.settled()
  const id = await stage.say('two')
  for (const { messages } of people) await messages.waitFor('the second message', (one) => one.id === id)
  await cannotRead(bob, id, laptop.id)
})

test('a former member who got the key only by asking cannot read later messages', async () => {
  await using stage = await Stage.open()
  const { people, group } = stage
  const [founder, bob, eve] = people
  eve.user.isUnnamed = true
  const first = await stage.say('one')
  await eve.messages.waitFor('what Eve asked for', (one) => one.id === first)
  group.change(founder.user, 'remove', eve.user)
  listen(stage, eve.user.devices.values())
  await stage.settled()
  const id = await stage.say('two')
  await read([founder, bob], id)
  await cannotRead(eve, id)
})

test('a device that got the key only because it was missing cannot read later messages when it is logged out', async () => {
  await using stage = await Stage.open()
  const { people } = stage
  const [, bob] = people
  await read(people, await stage.say('one'))
  const laptop = bob.addDevice({ isTold: false })
  bob.asksAgain = false
  const second = await stage.say('two')
  await bob.opened.waitFor('the message on the laptop', (one) => one.id === second && one.device === laptop.id)
  bob.removeDevice(laptop)
  listen(stage, [laptop])
  await stage.settled()
  const id = await stage.say('three')
  for (const { messages } of people) await messages.waitFor('the third message', (one) => one.id === id)
  await cannotRead(bob, id, laptop.id)
})
