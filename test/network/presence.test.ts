// The presence of an account: the network hears that it is online only when the service decides so.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { LoggedStanza } from '../../sim/network/server/stanza-log.ts'
import { waitUntil } from '../harness/wait-until.ts'
import { Bed } from './harness/bed.ts'

function sentBy(bed: Bed, tag: string): LoggedStanza[] {
  return bed.sim.log.find({ tag }).filter(({ direction }) => direction === 'in')
}

test('a newly linked account announces its name as unavailable and sends no presence without a type', async () => {
  await using bed = await Bed.open()
  const phone = bed.sim.account({ phone: '5511999990001', name: 'Ana' })
  const pairing = await bed.dial('s')
  await phone.scan(await pairing.qr())
  await pairing.closing()
  await bed.online('s')
  const named = { name: 'Ana', type: 'unavailable' }
  await waitUntil('the name is announced', () => sentBy(bed, 'presence').length > 0)
  // The library changes its credentials several times while it takes over the history and the keys of the app state.
  await waitUntil(
    'the history is taken over',
    () => sentBy(bed, 'receipt').filter(({ attrs }) => attrs['type'] === 'hist_sync').length === 3,
  )
  await waitUntil('the app state is asked for', () =>
    sentBy(bed, 'iq').some(({ attrs }) => attrs['xmlns'] === 'w:sync:app:state'),
  )
  const announced = sentBy(bed, 'presence').map(({ attrs }) => attrs)
  for (const attrs of announced) assert.deepEqual(attrs, named)
  assert.deepEqual(bed.sim.log.violations, [])
})

test('an account that is online stays online when the owner changes the name on the phone', async () => {
  await using bed = await Bed.open()
  const phone = await bed.linked('s')
  const { session } = await bed.online('s')
  await session.setAvailable(true)
  const value = { pushNameSetting: { name: 'Ana Maria' } }
  phone.changeAppState('critical_block', { index: ['setting_pushName'], value, apiVersion: 1 })
  const isNew = ({ attrs }: LoggedStanza) => attrs['name'] === 'Ana Maria'
  const { attrs } = await bed.sim.waitForStanza('presence', isNew)
  assert.deepEqual(attrs, { name: 'Ana Maria', type: 'available' })
})

test('typing names the chat and no sender', async () => {
  await using bed = await Bed.open()
  await bed.linked('s')
  const bob = bed.sim.person({ phone: '5511888880001' })
  const { session } = await bed.online('s')
  for (const chat of [bob.user.pnJid, bob.user.lidJid]) {
    await session.setTyping(chat, true)
    const { attrs } = await bed.sim.waitForStanza('chatstate', (one) => one.attrs['to'] === chat)
    assert.deepEqual(attrs, { to: chat })
  }
})
