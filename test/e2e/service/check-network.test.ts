// The checks of the WhatsApp side: the link of the account, the way to WhatsApp, and the client version.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkOf, checkSetup } from '../../harness/setup-report.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { World } from '../../harness/world.ts'

const closedPort = '127.0.0.1:9'

test('an instance that is not linked, linked, and logged out', async () => {
  await using world = await World.unlinked()
  await world.create({ name: 'shop' })
  const link = async () => checkOf(await checkSetup(world.service, 'shop'), 'linked')
  assert.match((await link()).cure ?? '', /scan the code of GET \/api\/instances\/shop\/qr/)
  const phone = await world.pair('shop')
  assert.deepEqual((await link()).result, 'ok')
  phone.unlink()
  await world.reaches('shop', 'logged_out')
  const { result, sentence, cure } = await link()
  assert.equal(result, 'broken')
  assert.match(sentence, /the link to the phone has ended \(.+\)/)
  assert.match(cure ?? '', /refresh-qr/)
  await world.command('/shop/refresh-qr')
  await phone.scan(await world.qrText('shop'))
  await world.reaches('shop', 'ready')
  assert.equal((await link()).result, 'ok')
})

test('WhatsApp that cannot be reached is named with its cause; a connected account needs no question', async () => {
  const environment = { SERVICE_NETWORK_URL: `ws://${closedPort}` }
  await using world = await World.unlinked({ environment })
  await world.create({ name: 'shop' })
  const reach = async () => checkOf(await checkSetup(world.service, 'shop'), 'whatsapp_reachable')
  const { result, sentence, cure } = await reach()
  assert.equal(result, 'broken')
  assert.match(sentence, /WhatsApp cannot be reached: .*127\.0\.0\.1/)
  assert.match(cure ?? '', /^check SERVICE_NETWORK_URL/, 'the cure of checks.network_unreachable')
  await world.restartService({ SERVICE_NETWORK_URL: world.network.url })
  assert.equal((await reach()).sentence, 'WhatsApp can be reached')
  await world.pair('shop')
  assert.equal((await reach()).sentence, 'WhatsApp can be reached: an account is connected')
})

test('WhatsApp is asked through the proxy of the instance, and never directly', async () => {
  await using world = await World.unlinked()
  await world.create({ name: 'shop', network_proxy: `http://me:passw0rd@${closedPort}` })
  const reach = async () => checkOf(await checkSetup(world.service, 'shop'), 'whatsapp_reachable')
  const { result, cure } = await reach()
  assert.equal(result, 'broken')
  assert.match(cure ?? '', /check that the proxy runs .* network_proxy of the instance/)
  assert.doesNotMatch(JSON.stringify(await reach()), /passw0rd/)
  const inHealth = (await world.health()).checks.setup.map(({ name }) => name)
  assert.ok(!inHealth.includes('whatsapp_reachable'), 'a proxy of one instance says nothing about the others')
  await world.patch('shop', { network_proxy: null })
  assert.equal((await reach()).result, 'ok')
})

test('linked accounts that cannot reach WhatsApp have one entry in health', async () => {
  await using world = await World.open()
  await world.network.goAway()
  await waitUntil('the account has failed', async () => {
    return (await world.health()).checks.network_unreachable.length === 1
  })
  const { cure } = checkOf(await checkSetup(world.service, 'n0'), 'whatsapp_reachable')
  const { checks } = await world.health()
  assert.equal(cure, checks.network_unreachable[0]?.cure)
  assert.ok(!checks.setup.some(({ name }) => name === 'whatsapp_reachable'))
})

test('a client version that WhatsApp refuses is named, and the cure of a pinned one removes the setting', async () => {
  await using world = await World.open({ environment: { SERVICE_NETWORK_VERSION: '2,3000,1' } })
  const version = async () => checkOf(await checkSetup(world.service, 'n0'), 'client_version')
  assert.equal((await version()).result, 'ok')
  world.network.versions.refused.add(1)
  await world.network.strike({ kind: 'drop' })
  await waitUntil('the refusal is noticed', async () => (await version()).result === 'broken')
  assert.match((await version()).cure ?? '', /remove SERVICE_NETWORK_VERSION/)
  await world.restartService({ SERVICE_NETWORK_VERSION: '' })
  await world.allReady()
  assert.equal((await version()).result, 'ok')
})
