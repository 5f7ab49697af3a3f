// Messages that a linked device is told of and not given: each is announced, and followed by its content where that comes.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { SimPerson } from '../../../sim/network/people/sim-person.ts'
import { stanza } from '../../../sim/network/wire/stanza.ts'
import { FastClock } from '../../harness/fast-clock.ts'
import { ManualClock } from '../../harness/manual-clock.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { World } from '../../harness/world.ts'

const waiting = '⏳ This message could not be decrypted yet. Its content follows as a reply when it arrives.'
const withheld = '🔒 The content of this message cannot be shown here. It can be seen on the phone.'
const viewOnce = '👁️ View-once file: it can only be opened on the phone'
const daySeconds = 86_400

describe('a message that is not for linked devices', () => {
  let world: World
  let maria: SimPerson
  before(async () => {
    world = await World.open({ clock: new FastClock(20) })
    maria = world.network.person({ phone: '5511988887777', pushName: 'Maria' })
  })
  after(() => world[Symbol.asyncDispose]())

  const notice = (type: string | undefined, timestamp?: number) => {
    const node = stanza('unavailable', { type })
    const options = timestamp === undefined ? {} : { timestamp }
    return { id: maria.writeNotice(world.phone.user, node, { conversation: 'for the phone' }, options) }
  }

  const announced: [name: string, send: () => { id: string }, text: string][] = [
    ['to be seen once', () => notice('view_once_unavailable_fanout'), viewOnce],
    ['of a bot', () => notice('bot_unavailable_fanout'), withheld],
    ['of a hosted business', () => notice('hosted_unavailable_fanout'), withheld],
    [
      'older than two weeks',
      () => notice(undefined, Math.floor(world.network.clock.now() / 1000) - 15 * daySeconds),
      withheld,
    ],
  ]
  for (const [name, send, text] of announced) {
    test(`${name} is announced, and confirmed once it is stored`, async () => {
      const message = await world.arrived(send())
      assert.equal(message.content, text)
      assert.equal(message.sender?.name, 'Maria')
      await world.drained()
      assert.equal(world.phone.companion.books.size, 0)
    })
  }

  test('sealed for a bot (msmsg) is announced without a promise of content', async () => {
    const id = '3AMSMSG0000000000001'
    const from = maria.user.pnJid
    const t = String(Math.floor(world.network.clock.now() / 1000))
    const attributes = { id, from, t, type: 'text', notify: 'Maria', sender_lid: maria.user.lidJid }
    const sealed = stanza('enc', { type: 'msmsg', v: '2' }, Buffer.alloc(48, 1))
    world.phone.companion.deliver(stanza('message', attributes, [sealed]))
    assert.equal((await world.arrived({ id })).content, withheld)
  })

  test('whose content the phone sends later is announced, and the content is a reply to the announcement', async () => {
    const sent = notice(undefined)
    const announcement = await world.arrived(sent)
    assert.equal(announcement.content, waiting)
    const message = await world.arrived(sent, ({ id }) => id !== announcement.id)
    assert.equal(message.content, 'for the phone')
    assert.equal(message.contentAttributes['in_reply_to'], announcement.id)
  })

  test('everything went into one conversation', async () => {
    await world.drained()
    assert.equal(world.helpdesk.see.conversations().length, 1)
    world.helpdesk.assertNothingRefused()
  })
})

test('content that the phone sends within 10 s is posted alone, without an announcement', async () => {
  // The library waits 2 s of real time before it asks the phone; meanwhile the clock of the service stands still.
  const clock = new ManualClock(Date.now())
  await using world = await World.open({ clock })
  const maria = world.network.person({ phone: '5511988887777' })
  const id = maria.writeNotice(world.phone.user, stanza('unavailable'), { conversation: 'from an ad' })
  assert.equal((await world.arrived({ id })).content, 'from an ad')
  await waitUntil('nothing is left to announce', async () => {
    await clock.advance(1000)
    return (await world.health()).checks.inbox_pending === 0
  })
  assert.deepEqual(
    world.helpdesk.messages().map(({ content }) => content),
    ['from an ad'],
  )
})
