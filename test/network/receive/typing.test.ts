// Typing of people: what the network tells to an account that is online and has subscribed.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EventLog } from '../../../sim/event-log.ts'
import type { TypingNotice } from '../../../src/core/realtime.ts'
import type { NetworkSession } from '../../../src/core/network.ts'
import { Bed } from '../harness/bed.ts'

class TypingBed {
  readonly heard = new EventLog<TypingNotice>('what was heard', (one) => JSON.stringify(one))
  #bed: Bed | undefined

  get bed(): Bed {
    assert.ok(this.#bed)
    return this.#bed
  }

  static async open(): Promise<TypingBed> {
    const own = new TypingBed()
    const onTyping = (_: string, notice: TypingNotice) => {
      own.heard.add(notice)
    }
    own.#bed = await Bed.open({ network: { reception: { onTyping } } })
    return own
  }

  /** The server has the subscription: it has answered what was sent after it. */
  async subscribe(session: NetworkSession, address: string): Promise<void> {
    await session.subscribeToPresence(address)
    await session.probe(60_000)
  }

  /** Everything that the server sent so far has arrived. */
  async arrived(session: NetworkSession): Promise<TypingNotice[]> {
    await session.probe(60_000)
    return [...this.heard.entries]
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.bed[Symbol.asyncDispose]()
  }
}

test('an account that is online and subscribed hears that a person types, records, stops and goes', async () => {
  await using own = await TypingBed.open()
  const { bed } = own
  const phone = await bed.linked('s')
  const bob = bed.sim.person({ phone: '5511888880001' })
  const { session } = await bed.online('s')
  await session.setAvailable(true)
  bob.typing(phone)
  assert.deepEqual(await own.arrived(session), [], 'not subscribed')
  await own.subscribe(session, bob.user.pnJid)
  bob.presence(phone, 'unavailable')
  for (const state of ['composing', 'recording', 'paused', 'composing'] as const) bob.typing(phone, state)
  bob.presence(phone, 'available')
  bob.presence(phone, 'unavailable')
  bob.presence(phone, 'unavailable')
  const who = { phone: '5511888880001', lid: null }
  const chat = { kind: 'person', ...who }
  const heard = await own.arrived(session)
  assert.deepEqual(
    heard.map(({ state }) => state),
    ['typing', 'recording', 'off', 'typing', 'off'],
  )
  assert.deepEqual(heard[0], { chat, who, state: 'typing' })
  assert.deepEqual(bed.sim.log.violations, [])
})

test('a person who types under an anonymous id is named by it', async () => {
  await using own = await TypingBed.open()
  const { bed } = own
  const phone = await bed.linked('s')
  const bob = bed.sim.person({ phone: '5511888880001', lid: '200000000000001' })
  const { session } = await bed.online('s')
  await session.setAvailable(true)
  await own.subscribe(session, bob.user.lidJid)
  bob.typing(phone, 'composing', 'lid')
  const [notice] = await own.arrived(session)
  const who = { phone: null, lid: '200000000000001' }
  assert.deepEqual(notice, { chat: { kind: 'person', ...who }, who, state: 'typing' })
})

test('in a group the chat is the group, and the typing person is its member', async () => {
  await using own = await TypingBed.open()
  const { bed } = own
  const phone = await bed.linked('s')
  const bob = bed.sim.person({ phone: '5511888880001' })
  const group = bed.sim.group('Choir', bob, [phone], 'pn')
  const { session } = await bed.online('s')
  await session.setAvailable(true)
  await own.subscribe(session, group.jid)
  bob.typing(group)
  const [notice] = await own.arrived(session)
  const who = { phone: '5511888880001', lid: null }
  assert.deepEqual(notice, { chat: { kind: 'group', id: group.jid.replace('@g.us', '') }, who, state: 'typing' })
})

test('a subscription does not make the account available, and an account that is not available hears nothing', async () => {
  await using own = await TypingBed.open()
  const { bed } = own
  const phone = await bed.linked('s')
  const bob = bed.sim.person({ phone: '5511888880001' })
  const { session } = await bed.online('s')
  await own.subscribe(session, bob.user.pnJid)
  assert.deepEqual(
    phone.companions.map(({ available }) => available),
    [false],
  )
  bob.typing(phone)
  assert.deepEqual(await own.arrived(session), [])
})

test('a subscription carries the privacy token that the person gave us, and no token otherwise', async () => {
  await using own = await TypingBed.open()
  const { bed } = own
  const phone = await bed.linked('s')
  const bob = bed.sim.person({ phone: '5511888880001' })
  const eve = bed.sim.person({ phone: '5511888880002' })
  const { session } = await bed.online('s')
  bob.trust(phone)
  await session.probe(60_000)
  await own.subscribe(session, bob.user.pnJid)
  await own.subscribe(session, eve.user.pnJid)
  const subscriptions = bed.sim.log.find({ tag: 'presence' }).filter(({ attrs }) => attrs['type'] === 'subscribe')
  const inside = subscriptions.map(({ node }) =>
    (Array.isArray(node.content) ? node.content : []).map(({ tag }) => tag),
  )
  assert.deepEqual(inside, [['tctoken'], []])
  assert.deepEqual(bed.sim.log.violations, [])
})
