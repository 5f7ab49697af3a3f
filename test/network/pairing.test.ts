// An account is linked, logs in, comes back without a phone, and is logged out from either side.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { passkeyRequest } from '../../sim/network/accounts/passkey-request.ts'
import { SeededRandom } from '../../sim/network/seeded-random.ts'
import { drawnEngines } from '../harness/drawn-engine.ts'
import { ManualClock } from '../harness/manual-clock.ts'
import { Bed } from './harness/bed.ts'
import { holdOf } from '../harness/holds.ts'

for (const engine of drawnEngines(import.meta.url)) {
  describe(`linking on ${engine}`, () => {
    test('a scanned code links the account, which then logs in with what was stored', async () => {
      await using bed = await Bed.open({ engine })
      const phone = bed.sim.account({ phone: '5511999990001', name: 'Ana' })
      assert.equal(await bed.network.storedJid({ sessionId: 's', instance: 'a' }), null)
      const pairing = await bed.dial('s')
      await phone.scan(await pairing.qr())
      const { jid } = await pairing.signal('paired')
      assert.equal(jid, '5511999990001@s.whatsapp.net')
      assert.equal((await pairing.closing()).cause, 'restart')
      assert.equal(await bed.network.storedJid({ sessionId: 's', instance: 'a' }), jid)
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
      await bed.network.forget({ sessionId: 's', instance: 'a' })
      assert.equal(await bed.network.storedJid({ sessionId: 's', instance: 'a' }), null)
    })
  })
}

test('a code typed on the phone links the account as well', async () => {
  const clock = new ManualClock()
  await using bed = await Bed.open({ clock })
  const phone = bed.sim.account({ phone: '5511999990001' })
  const pairing = await bed.dial('s')
  const { code, expiresAt } = await pairing.session.requestPairingCode('5511999990001')
  assert.equal(expiresAt, clock.now() + 6 * 20_000, 'as long as the codes of the offer last')
  assert.match(code, /^[0-9A-Z]{8}$/)
  assert.equal(await bed.network.storedJid({ sessionId: 's', instance: 'a' }), null)
  await phone.link(code)
  await pairing.signal('paired')
  assert.equal((await pairing.closing()).cause, 'restart')
  await bed.online('s')
})

test('a code that was asked for and never typed leaves no trace', async () => {
  await using bed = await Bed.open()
  const pairing = await bed.dial('s')
  await pairing.qr()
  await pairing.session.requestPairingCode('5511999990001')
  await pairing.session.close()
  assert.equal(await bed.network.storedJid({ sessionId: 's', instance: 'a' }), null)
  await (await bed.dial('s')).qr()
})

test('a connection that waits for a scan answers probes like any other', async () => {
  await using bed = await Bed.open()
  const pairing = await bed.dial('s')
  await pairing.qr()
  await pairing.session.probe(60_000)
})

test('every code is shown in turn, and the last one ends the pairing', async () => {
  await using bed = await Bed.open({ sim: { qrRefs: 3 }, network: { qrLifetimeMs: 50 } })
  const line = await bed.dial('s')
  const closing = await line.closing()
  assert.deepEqual([closing.cause, closing.code], ['pairing_over', null])
  const codes = line.signals.entries.filter((one) => one.kind === 'qr').map(({ text }) => text)
  assert.equal(new Set(codes).size, 3)
  assert.deepEqual(line.kinds, ['qr', 'qr', 'qr', 'closed'])
})

test('a server that hangs up after the last code ends the pairing too', async () => {
  await using bed = await Bed.open({ sim: { qrRefs: 1, qrRotationMs: 300 } })
  const line = await bed.dial('s')
  assert.equal((await line.closing()).cause, 'pairing_over')
})

for (const way of ['scanned', 'typed'] as const) {
  test(`an account that is asked for a passkey after its code was ${way} is told apart, and nothing is linked`, async () => {
    await using bed = await Bed.open()
    const phone = bed.sim.account({ phone: '5511999990001' })
    phone.asksPasskey = true
    const line = await bed.dial('s')
    const linking =
      way === 'scanned'
        ? phone.scan(await line.qr())
        : phone.link((await line.session.requestPairingCode('5511999990001')).code)
    const hungUp = assert.rejects(linking, /hung up/)
    const { cause, reason, errorCode } = await line.closing()
    assert.deepEqual([cause, errorCode], ['client_refused', 'passkey_required'])
    assert.match(reason, /passkey/)
    await hungUp
    assert.equal(await bed.network.storedJid({ sessionId: 's', instance: 'a' }), null)
  })
}

test('a request for a passkey to an account that is linked is acknowledged, and the session stays', async () => {
  await using bed = await Bed.open()
  const phone = await bed.linked('s')
  const line = await bed.online('s')
  const request = passkeyRequest(new SeededRandom('a late request'))
  phone.companions[0]?.deliver(request)
  await bed.sim.waitForStanza('ack', ({ attrs }) => attrs['id'] === request.attrs['id'])
  await line.session.probe(60_000)
  assert.deepEqual(line.kinds, ['authenticated', 'drained'])
})

test('a stored account logs in again and again without a phone', async () => {
  await using bed = await Bed.open()
  const phone = await bed.linked('s')
  for (let round = 0; round < 5; round++) {
    const line = await bed.online('s')
    if (round % 2 === 0) await line.session.close()
    else await bed.sim.strike({ kind: 'drop' })
  }
  assert.equal(phone.companions.length, 1)
})

test('a session whose device the phone removed is invalid', async () => {
  await using bed = await Bed.open()
  const phone = await bed.linked('s')
  const line = await bed.online('s')
  phone.unlink()
  assert.equal((await line.closing()).cause, 'invalidated')
})

test('a new pairing under an old session id starts with nothing', async () => {
  await using bed = await Bed.open()
  await bed.store.save(holdOf('a', bed.epoch), 's', [{ kind: 'session', id: 'left over', value: Buffer.from('{}') }])
  const line = await bed.dial('s')
  await line.qr()
  assert.deepEqual(await bed.store.load('s', 'session', ['left over']), [])
})
