// The same seed gives the same network: root key, LIDs, message ids, group addresses.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SimNetwork } from '../../sim/network/sim-network.ts'

async function choices(seed: string): Promise<string[]> {
  await using network = await SimNetwork.start({ seed })
  const phone = network.account({ phone: '5511999990001' })
  const bob = network.person({ phone: '5511888880001' })
  const { creds } = network.linkReady(phone)
  const group = network.group('Team', bob, [phone])
  const sent = bob.text(phone, 'hello')
  return [network.rootKey.toString('hex'), phone.user.lid, bob.user.lid, group.jid, sent.id, creds.advSecretKey]
}

test('the seed determines the choices of the simulator', async () => {
  const first = await choices('one')
  assert.deepEqual(await choices('one'), first)
  const other = await choices('two')
  for (const [index, value] of first.entries()) assert.notEqual(other[index], value)
})

test('the ids of messages and groups do not depend on the actions of clients', async () => {
  const written: string[][] = []
  for (const linked of [false, true]) {
    await using network = await SimNetwork.start({ seed: 'one' })
    const phone = network.account({ phone: '5511999990001' })
    const bob = network.person({ phone: '5511888880001' })
    if (linked) network.linkReady(phone)
    const texts = ['one', 'two'].map((text) => bob.text(phone, text).id)
    const first = network.group('First', phone, [bob])
    if (linked) first.setSubject(phone.user, 'Renamed')
    written.push([...texts, first.jid, network.group('Second', bob, [phone]).jid])
  }
  assert.deepEqual(written[0], written[1])
})
