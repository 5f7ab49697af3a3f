// Parts of a message that the real server sends or leaves out make no difference to what the service receives.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SimPerson } from '../../../sim/network/people/sim-person.ts'
import { OPTIONAL_PARTS } from '../../../sim/network/server/optional-parts.ts'
import type { OptionalPart } from '../../../sim/network/server/optional-parts.ts'
import { allChildren } from '../../../sim/network/wire/stanza.ts'
import type { NetworkEvent } from '../../../src/core/message.ts'
import { Bed } from '../harness/bed.ts'
import { plain } from '../harness/contents.ts'

/** What the service receives and sends while these parts are missing, and which optional parts its messages had. */
async function exchange(missing: readonly OptionalPart[]): Promise<{ events: NetworkEvent[]; parts: string[] }> {
  await using bed = await Bed.open({ sim: { seed: 'optional parts' } })
  bed.sim.omit(...missing)
  const phone = await bed.linked('s')
  const bob = bed.sim.person({ phone: '5511888880001', pushName: 'Bob', devices: 2 })
  bob.user.businessName = 'Bob & Co'
  const team = bed.sim.group('Team', bob, [phone])
  const { session } = await bed.online('s')
  const at = { timestamp: 1_700_000_000 }
  const sent = [
    bob.text(phone, 'from the second device', { ...at, device: 1 }),
    bob.poll(phone, 'Lunch?', ['Yes', 'No'], at),
    bob.text(phone, 'by LID', { ...at, addressing: 'lid' }),
    bob.text(team, 'to all', at),
  ]
  const events = await Promise.all(sent.map(({ id }) => bed.event(id)))
  for (const chat of [bob.user.pnJid, bob.user.lidJid, team.jid]) await answer(bob, chat, session)
  const stanzas = bed.sim.log.find({ tag: 'message' }).filter(({ direction }) => direction === 'out')
  const names = stanzas.flatMap(({ attrs, node }) => [
    ...Object.keys(attrs),
    ...allChildren(node).map(({ tag }) => tag),
  ])
  return { events, parts: OPTIONAL_PARTS.filter((part) => names.includes(part)) }
}

async function answer(
  bob: SimPerson,
  chat: string,
  session: Awaited<ReturnType<Bed['online']>>['session'],
): Promise<void> {
  const id = session.newMessageId()
  await session.send(chat, plain('an answer'), id)
  await bob.messages.waitFor(`the answer in ${chat}`, (one) => one.id === id)
}

test('messages are received alike with every optional part, without any one of them, and without all', async () => {
  const whole = await exchange([])
  assert.deepEqual(whole.parts, [...OPTIONAL_PARTS], 'the simulator sends every part')
  for (const missing of [...OPTIONAL_PARTS.map((part) => [part]), OPTIONAL_PARTS]) {
    const { events, parts } = await exchange(missing)
    assert.deepEqual(
      parts,
      OPTIONAL_PARTS.filter((part) => !missing.includes(part)),
    )
    assert.deepEqual(events, whole.events, `without ${missing.join(', ')}`)
  }
})
