// A group refuses a message because a device or the addressing is out of date: the members and their devices are asked for.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { child, children } from '../../../sim/network/wire/stanza.ts'
import { Bed } from '../harness/bed.ts'
import { plain } from '../harness/contents.ts'

for (const code of [400, 421, 479]) {
  test(`${code}: a new device, of which no notice came, gets the key with the second attempt`, async () => {
    await using bed = await Bed.open()
    const phone = await bed.linked('s')
    const bob = bed.sim.person({ phone: '5511888880001' })
    const eve = bed.sim.person({ phone: '5511888880002' })
    const group = bed.sim.group('Team', bob, [phone, eve])
    const { session } = await bed.online('s')
    await session.send(group.jid, plain('one'), '3EB01')
    const laptop = bob.addDevice({ isTold: false })
    bed.sim.fault({ kind: 'ack_error', code })
    await session.send(group.jid, plain('two'), '3EB02')
    const frames = bed.sim.log
      .find({ tag: 'message' })
      .filter(({ direction, attrs }) => direction === 'in' && attrs['id'] === '3EB02')
    const given = frames.map(({ node }) =>
      children(child(node, 'participants'), 'to').flatMap(({ attrs }) => attrs['jid'] ?? []),
    )
    assert.deepEqual(given, [[], [bob.user.jid('lid', laptop.id)]])
    await bob.opened.waitFor('the message on the laptop', (one) => one.device === laptop.id && one.id === '3EB02')
    assert.equal(bob.duplicates + eve.duplicates, 0)
  })
}
