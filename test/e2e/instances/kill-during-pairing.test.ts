// kill -9 at every step of a pairing: the next start goes on from what is stored, without a person.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { SimPhone } from '../../../sim/network/accounts/sim-phone.ts'
import { owner, ownerJid } from '../../harness/instance-api.ts'
import { ProcessWorld } from '../../harness/process-world.ts'
import { waitUntil } from '../../harness/wait-until.ts'

/** Scans a new code, unless the stored session connects before one is shown. */
async function pairOnRequest(world: ProcessWorld, phone: SimPhone): Promise<void> {
  await world.command('/a/refresh-qr')
  let code = ''
  await waitUntil('a code is shown or the instance is ready', async () => {
    const { status, text } = await world.service.get('/api/instances/a/qr?format=text')
    if (status === 200) code = text
    return code !== '' || (await world.detail('a')).state === 'ready'
  })
  if (code !== '') await phone.scan(code)
}

// Side by side: most of the time is spent waiting for the lease of a dead process.
describe('a service killed', { concurrency: true }, () => {
  test('while the code is shown is disconnected afterwards and pairs on request', async () => {
    await using world = await ProcessWorld.open({ accounts: 0 })
    const phone = world.network.account({ phone: owner })
    await world.create({ name: 'a' })
    await world.qrText('a')
    await world.kill()
    await world.reaches('a', 'disconnected')
    await world.command('/a/refresh-qr')
    await phone.scan(await world.qrText('a'))
    await world.reaches('a', 'ready')
  })

  // The kill strikes at the log line of each step; which writes had reached the disk by then is up to chance.
  for (const line of ['instance state changed', 'the phone has scanned']) {
    test(`right after the scan (${line}) is ready afterwards, or pairs again on request`, async () => {
      await using world = await ProcessWorld.open({ accounts: 0 })
      const phone = world.network.account({ phone: owner })
      await world.create({ name: 'a' })
      const scanned = phone.scan(await world.qrText('a'))
      if (line === 'the phone has scanned') await scanned
      else await waitUntil('the scan is known', async () => (await world.detail('a')).state !== 'qr_pending')
      await world.end('SIGKILL')
      await scanned.catch(() => undefined)
      await world.startService()
      const { state } = await world.reaches('a', (each) => ['ready', 'disconnected'].includes(each))
      // The network is told that the pairing is complete only after the credentials are stored.
      if (line === 'the phone has scanned') await world.reaches('a', 'ready')
      else if (state === 'disconnected') await pairOnRequest(world, phone)
      const { jid } = await world.reaches('a', 'ready')
      assert.equal(jid, ownerJid)
      if (line === 'the phone has scanned') assert.equal(phone.companions.length, 1, 'not paired a second time')
    })
  }
})
