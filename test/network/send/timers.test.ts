// The timers of chats, as the room learns, stores and forgets them.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { SimPhone } from '../../../sim/network/accounts/sim-phone.ts'
import type { SimPerson } from '../../../sim/network/people/sim-person.ts'
import { IqError } from '../../../sim/network/server/iq-router.ts'
import { child, stanza } from '../../../sim/network/wire/stanza.ts'
import type { Stanza } from '../../../sim/network/wire/stanza.ts'
import type { SendOptions } from '../../../src/core/network.ts'
import { engines } from '../../harness/databases.ts'
import { day, timerOf, week } from '../../harness/timers.ts'
import { ManualClock } from '../../harness/manual-clock.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { Bed } from '../harness/bed.ts'
import { plain } from '../harness/contents.ts'
import { FailingKeys } from '../harness/failing-keys.ts'
import type { Line } from '../harness/line.ts'

/** Sends a text to the person. Returns the timer that the person sees on it. */
async function timerOfText(
  { session }: Line,
  person: SimPerson,
  options: SendOptions = {},
): Promise<number | undefined> {
  const id = session.newMessageId()
  await session.send(person.user.pnJid, plain('hello'), id, options)
  return timerOf(await person.messages.waitFor('the text', (one) => one.id === id))
}

async function storedTimers(bed: Bed): Promise<string[]> {
  return bed.store.idsOf('s', 'chat-timer')
}

async function storedOld(bed: Bed): Promise<string[]> {
  return bed.store.idsOf('s', 'old-chat')
}

function refuseToAnswer(): never {
  throw new IqError(503, 'service-unavailable')
}

/** The server answers about the account, but cannot tell its default. */
function answerWithoutTimer({ user }: SimPhone): Stanza[] {
  const mode = stanza('disappearing_mode', {}, [stanza('error', { code: '404' })])
  return [stanza('usync', {}, [stanza('list', {}, [stanza('user', { jid: user.pnJid }, [mode])])])]
}

for (const engine of engines) {
  describe(`timers of chats on ${engine}`, () => {
    test('are learnt from the history of a new companion', async () => {
      await using bed = await Bed.open({ engine })
      const phone = bed.sim.account({ phone: '5511999990001', name: 'Ana' })
      const bob = bed.sim.person({ phone: '5511888880001', pushName: 'Bob' })
      bob.setTimer(phone, week)
      const pairing = await bed.dial('s')
      await phone.scan(await pairing.qr())
      await pairing.closing()
      const line = await bed.online('s')
      await waitUntil('the timer is stored', async () => (await storedTimers(bed)).length > 0)
      assert.equal(await timerOfText(line, bob), week)
    })

    test('are not the default of the account where the chat is in the history', async () => {
      await using bed = await Bed.open({ engine })
      const phone = bed.sim.account({ phone: '5511999990001', name: 'Ana' })
      const bob = bed.sim.person({ phone: '5511888880001', pushName: 'Bob' })
      const eve = bed.sim.person({ phone: '5511888880002', pushName: 'Eve' })
      bob.text(phone, 'long ago')
      phone.user.defaultTimer = { seconds: week, setAt: 1_750_000_000 }
      const pairing = await bed.dial('s')
      await phone.scan(await pairing.qr())
      await pairing.closing()
      const line = await bed.online('s')
      await waitUntil('the chat is stored', async () => (await storedOld(bed)).length > 0)
      assert.equal(await timerOfText(line, bob, { isFirst: true }), undefined)
      assert.equal(await timerOfText(line, eve), undefined)
      assert.equal(await timerOfText(line, eve, { isFirst: true }), week)
    })

    test('are the default of the account in the next new chat, after a question for it has failed', async () => {
      await using bed = await Bed.open({ engine })
      const phone = bed.sim.account({ phone: '5511999990001', name: 'Ana' })
      const [bob, carl, eve] = ['1', '2', '3'].map((n) => bed.sim.person({ phone: `551188888000${n}` }))
      assert.ok(bob && carl && eve)
      const pairing = await bed.dial('s')
      await phone.scan(await pairing.qr())
      await pairing.closing()
      const line = await bed.online('s')
      phone.user.defaultTimer = { seconds: week, setAt: 1_750_000_000 }
      const answers = [() => refuseToAnswer(), () => answerWithoutTimer(phone)]
      bed.sim.router.override('usync get usync', ({ content }) =>
        child(child(content, 'query'), 'disappearing_mode') ? (answers.shift()?.() ?? null) : null,
      )
      assert.equal(await timerOfText(line, bob, { isFirst: true }), undefined)
      assert.equal(await timerOfText(line, carl, { isFirst: true }), undefined)
      assert.equal(answers.length, 0)
      assert.equal(await timerOfText(line, eve, { isFirst: true }), week)
    })

    test('are stored with the message that told them, for both addresses, and go with the session', async () => {
      await using bed = await Bed.open({ engine })
      const phone = await bed.linked('s')
      const bob = bed.sim.person({ phone: '5511888880001', pushName: 'Bob' })
      const line = await bed.online('s')
      assert.equal(await timerOfText(line, bob), undefined)
      await bed.event(bob.text(phone, 'soon gone', { context: { expiration: day } }).id)
      assert.deepEqual((await storedTimers(bed)).toSorted(), [bob.user.pnJid, bob.user.lidJid].toSorted())
      assert.equal(await timerOfText(line, bob), day)
      await bed.network.release('s')
      assert.equal(await timerOfText(await bed.online('s'), bob), day)
      await bed.network.forget({ sessionId: 's', instance: 'a' })
      assert.deepEqual(await storedTimers(bed), [])
    })
  })
}

test('a message does not leave while storage cannot tell its timer, and leaves once when storage is back', async () => {
  const clock = new ManualClock()
  let keys: FailingKeys | undefined
  await using bed = await Bed.open({ clock, keys: (store) => (keys = new FailingKeys(store)) })
  assert.ok(keys)
  await bed.linked('s')
  const bob = bed.sim.person({ phone: '5511888880001', pushName: 'Bob' })
  const { session } = await bed.online('s')
  const id = session.newMessageId()
  keys.down = true
  const sending = session.send(bob.user.pnJid, plain('hello'), id)
  const refused = assert.rejects(sending, { name: 'SendError', outcome: 'not_sent' })
  await clock.advance(31_000)
  await refused
  keys.down = false
  // Longer than the longest pause between two questions to storage.
  await clock.advance(3_000)
  await session.send(bob.user.pnJid, plain('hello'), id)
  await bob.messages.waitFor('the text', (one) => one.id === id)
  assert.equal(bob.messages.length, 1)
})
