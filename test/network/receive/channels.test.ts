// Channels belong to no chat: their posts are acknowledged and counted, and none reaches the inbox.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { stanza } from '../../../sim/network/wire/stanza.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { Bed } from '../harness/bed.ts'

test('posts of channels are acknowledged and counted, live and after a time offline', async () => {
  await using bed = await Bed.open()
  const phone = await bed.linked('s')
  const bob = bed.sim.person({ phone: '5511888880001' })
  const channel = bed.sim.newsletter(phone)
  const line = await bed.online('s')
  channel.post({ conversation: 'live news' })
  channel.post({ imageMessage: { caption: 'a picture' } })
  channel.deliver(stanza('reaction', { code: '👍' }))
  await waitUntil('the posts are acknowledged', () => phone.companion.books.size === 0)
  await line.session.close()
  channel.post({ conversation: 'news of the night' })
  const message = bob.text(phone, 'hello')
  await bed.online('s')
  await bed.event(message.id)
  await waitUntil('everything is acknowledged', () => phone.companion.books.size === 0)
  assert.deepEqual(bed.passedOver, ['newsletter', 'newsletter', 'newsletter', 'newsletter'])
  assert.equal(bed.received.length, 1)
  assert.equal(phone.companion.books.settled.nack, 0)
})
