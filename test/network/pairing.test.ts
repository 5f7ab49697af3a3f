// An account is linked, logs in, comes back without a phone, and is logged out from either side.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { engines } from '../harness/databases.ts'
import { Bed } from './harness/bed.ts'

for (const engine of engines) {
  describe(`linking on ${engine}`, () => {
    test('a scanned code links the account, which then logs in with what was stored', async () => {
      await using bed = await Bed.open({ engine })
      const phone = bed.sim.account({ phone: '5511999990001', name: 'Ana' })
      assert.equal(await bed.network.storedJid('s'), null)
      const pairing = await bed.dial('s')
      await phone.scan(await pairing.qr())
      const { jid } = await pairing.signal('paired')
      assert.equal(jid, '5511999990001@s.whatsapp.net')
      assert.equal((await pairing.closing()).cause, 'restart')
      assert.equal(await bed.network.storedJid('s'), jid)
      const line = await bed.online('s')
      assert.deepEqual(line.kinds, ['authenticated', 'drained'])
      assert.equal((await line.signal('authenticated')).jid, jid)
    })

    test('a logout tells the network and ends the session', async () => {
      await using bed = await Bed.open({ engine })
      const phone = await bed.linked('s')
      const line = await bed.online('s')
      await line.session.logout()
      assert.equal((await line.closing()).cause, 'invalidated')
      await phone.companionEvents.waitFor('unlinked', (one) => one.state === 'unlinked')
      await bed.network.forget('s')
      assert.equal(await bed.network.storedJid('s'), null)
    })
  })
}
