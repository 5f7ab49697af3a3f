// Commands that come before the boot of an account wait for it, and a boot leaves open what is open.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sampleInstance } from '../../test/harness/samples.ts'
import { HoldingsBed } from '../../test/harness/nodes/holdings-bed.ts'
import type { InstanceRow } from '../storage/stores/accounts/instance-rows.ts'
import type { LinkedAccount } from './linked-account.ts'

const linked = { state: 'disconnected', sessionId: 'session of shop' } as const

async function account(record: Partial<InstanceRow>): Promise<{ bed: HoldingsBed; account: LinkedAccount }> {
  const bed = HoldingsBed.begun()
  bed.held.set('shop', { instance: 'shop', node: 'self', epoch: 1 })
  const opened = await bed.registry.open(sampleInstance('shop', record))
  return { bed, account: opened }
}

const openOf = ({ network }: HoldingsBed) => network.opened.filter(({ isOpen }) => isOpen).length

test('a restart that comes before the boot waits for it, and one connection is open', async () => {
  const { bed, account: shop } = await account(linked)
  const restarted = shop.restart()
  await bed.settle(1000)
  assert.equal(bed.network.opened.length, 0, 'the restart waits')
  await shop.boot(0)
  assert.equal(await restarted, true)
  await bed.settle(1000)
  assert.equal(openOf(bed), 1)
})

test('a request for readiness that comes before the boot tries the stored session, and opens no pairing', async () => {
  const { bed, account: shop } = await account({ ...linked, retryAt: Number.MAX_SAFE_INTEGER })
  const asked = shop.requestReady()
  await bed.settle()
  await shop.boot(0)
  await asked
  await bed.settle()
  assert.deepEqual(
    bed.network.opened.map(({ sessionId }) => sessionId),
    ['session of shop'],
  )
  assert.equal(shop.record.pairingSessionId, null)
})

test('a pairing that is asked for before the boot is open after it', async () => {
  const { bed, account: shop } = await account({ state: 'logged_out', sessionId: null })
  const asked = shop.requestPairing()
  await bed.settle()
  await shop.boot(0)
  await asked
  await bed.settle()
  assert.equal(shop.state, 'qr_pending')
  assert.equal(openOf(bed), 1)
})

test('a boot leaves a session that is open alone', async () => {
  const { bed, account: shop } = await account(linked)
  await shop.boot(0)
  await bed.settle(100)
  shop.forgoBoot()
  await shop.boot(0)
  await bed.settle(100)
  assert.equal(bed.network.opened.length, 1)
})

test('a boot leaves a pairing that is open alone', async () => {
  const { bed, account: shop } = await account({ state: 'logged_out', sessionId: null })
  shop.forgoBoot()
  await shop.requestPairing()
  await shop.boot(0)
  await bed.settle()
  assert.equal(shop.state, 'qr_pending')
  assert.equal(openOf(bed), 1)
})

test('other work goes on while many accounts boot', async () => {
  const bed = HoldingsBed.begun()
  for (let index = 0; index < 100; index++) {
    const name = `shop-${index}`
    bed.held.set(name, { instance: name, node: 'self', epoch: 1 })
    await bed.registry.open(sampleInstance(name, linked))
  }
  let turns = 0
  const count = () => {
    turns++
    turn = setImmediate(count)
  }
  let turn = setImmediate(count)
  await bed.registry.boot()
  clearImmediate(turn)
  assert.ok(turns >= 4, `${turns} turns`)
  await bed.settle(5000)
  assert.equal(openOf(bed), 16, 'as many as the gate lets pass')
})

test('an account that is closed before its boot refuses the commands that wait', async () => {
  const { bed, account: shop } = await account(linked)
  const restarted = assert.rejects(shop.restart(), { code: 'SERVICE_INSTANCE_NOT_FOUND' })
  await shop.close()
  await restarted
  await bed.settle(1000)
  assert.equal(bed.network.opened.length, 0)
})

test('an account that cannot be taken refuses the commands that wait', async () => {
  const bed = HoldingsBed.begun()
  bed.held.set('shop', { instance: 'shop', node: 'self', epoch: 1 })
  const taking = Promise.withResolvers<undefined>()
  bed.onTake = () => taking.promise.then()
  const opening = assert.rejects(bed.registry.open(sampleInstance('shop', linked)), /storage is away/)
  const restarted = assert.rejects(bed.registry.get('shop').restart(), { code: 'SERVICE_INSTANCE_NOT_FOUND' })
  taking.reject(new Error('storage is away'))
  await opening
  await restarted
})
