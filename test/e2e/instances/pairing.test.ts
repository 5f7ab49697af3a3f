import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import jsQR from 'jsqr'
import { PNG } from 'pngjs'
import type { Database } from '../../../src/storage/database.ts'
import { assertRefused } from '../../harness/assertions.ts'
import { drawnEngines } from '../../harness/drawn-engine.ts'
import { ManualClock } from '../../harness/manual-clock.ts'
import { sampleInstanceColumns } from '../../harness/samples.ts'
import { Service } from '../../harness/service.ts'
import { World } from '../../harness/world.ts'
import type { Detail } from '../../harness/instance-api.ts'
import { waitUntil } from '../../harness/wait-until.ts'

const owner = '5511999990001'

for (const engine of drawnEngines(import.meta.url)) {
  describe(`pairing on ${engine}`, () => {
    test('create, QR picture, scan, paired, ready, and a restart of the service keeps it', async () => {
      await using world = await World.unlinked({ engine })
      const phone = world.network.account({ phone: owner })
      await world.create({ name: 'a' })
      const text = await world.qrText('a')
      const picture = await fetch(`${world.service.url}/api/instances/a/qr`, {
        headers: { authorization: 'Bearer test-token' },
      })
      assert.equal(picture.headers.get('content-type'), 'image/png')
      assert.equal(picture.headers.get('cache-control'), 'no-store')
      const png = PNG.sync.read(Buffer.from(await picture.arrayBuffer()))
      assert.ok(png.width >= 512, `${png.width} pixels`)
      assert.equal(jsQR.default(new Uint8ClampedArray(png.data), png.width, png.height)?.data, text)

      await phone.scan(text)
      const ready = await world.service.get('/api/instances/a/wait-ready?timeout=60')
      assert.equal(ready.status, 200)
      const detail = ready.body as Detail
      assert.deepEqual([detail.state, detail.jid, detail.phone], ['ready', `${owner}@s.whatsapp.net`, owner])
      assert.ok(detail.paired_at && detail.ready_at)
      assert.equal(detail.qr.available, false)
      const noQr = await world.service.get('/api/instances/a/qr')
      assert.equal(noQr.status, 404)
      assert.deepEqual(noQr.body, {
        error: 'no QR code is waiting to be scanned: POST …/refresh-qr asks for one',
        ...{ error_code: 'SERVICE_NO_QR', state: 'ready', last_error: null, last_error_code: null },
      })
      const { entries } = (await world.service.get('/api/audit')).body as {
        entries: { action: string; actor: string }[]
      }
      assert.deepEqual([entries[0]?.action, entries[0]?.actor], ['instance.paired', 'system'])

      const health = (await world.service.get('/api/health')).body as { checks: object; instances: object[] }
      assert.deepEqual(health.instances, [{ name: 'a', state: 'ready', jid: detail.jid }])
      assert.equal((health.checks as { instances_connected: number }).instances_connected, 1)
      assert.match((await world.service.get('/metrics')).text, /^service_active_instances 1$/m)
      assert.deepEqual((await world.service.get('/api/instances')).body, [
        { name: 'a', state: 'ready', jid: detail.jid },
      ])

      await world.restartService()
      const again = await world.reaches('a', 'ready')
      assert.deepEqual([again.jid, again.paired_at, again.ready_at], [detail.jid, detail.paired_at, detail.ready_at])
      assert.equal(phone.companions.length, 1, 'not paired a second time')
    })
  })
}

describe('the QR code', () => {
  test('rotates until the window is over; then the instance is disconnected and says so', async () => {
    await using world = await World.unlinked({ qrLifetimeMs: 1000, network: { qrRefs: 3 } })
    await world.create({ name: 'a' })
    const first = await world.qrText('a')
    const second = await world.qrText('a', first)
    assert.notEqual(second, first)
    const over = await world.reaches('a', 'disconnected')
    assert.deepEqual([over.qr.available, over.last_error_code], [false, 'not_scanned'])
    assert.match(over.last_error ?? '', /^no phone scanned a code in time/)
    await world.tells('a', 'qr_generated', 3)
  })

  test('is renewed by refresh-qr and by POST, also after the window is over', async () => {
    await using world = await World.unlinked({ qrLifetimeMs: 1500, network: { qrRefs: 1 } })
    const phone = world.network.account({ phone: owner })
    await world.create({ name: 'a' })
    await world.reaches('a', 'disconnected')
    const refreshed = await world.command('/a/refresh-qr')
    assert.deepEqual([refreshed.status, (refreshed.body as { state: string }).state], [200, 'qr_pending'])
    await world.reaches('a', 'disconnected')
    assert.deepEqual((await world.create({ name: 'a' })).body, { name: 'a', state: 'qr_pending', jid: null })
    // A busy machine may scan too late, and then asks for another code.
    await waitUntil('a code is scanned in time', async () => {
      await world.create({ name: 'a' })
      return phone.scan(await world.qrText('a')).then(
        () => true,
        () => false,
      )
    })
    await world.reaches('a', 'ready')
  })

  test('appears after a network that was away at first', async () => {
    await using world = await World.unlinked()
    world.network.fault({ kind: 'login_failure', code: 503, times: 1 })
    const phone = world.network.account({ phone: owner })
    await world.create({ name: 'a' })
    await phone.scan(await world.qrText('a'))
    await world.reaches('a', 'ready')
  })
})

describe('wait-ready', () => {
  test('gives state and QR picture when the time is over', async () => {
    await using world = await World.unlinked()
    await world.create({ name: 'a' })
    await world.qrText('a')
    const { status, body } = await world.service.get('/api/instances/a/wait-ready?timeout=1')
    const waited = body as { error_code: string; state: string; jid: null; qr: { available: boolean; image: string } }
    assert.equal(status, 408)
    assert.deepEqual([waited.error_code, waited.state, waited.jid], ['SERVICE_WAIT_TIMEOUT', 'qr_pending', null])
    assert.match(waited.qr.image, /^data:image\/png;base64,/)
  })

  test('is woken by delete with 404 and by logout with 408', async () => {
    // The clock stands still, so that the account does not connect before the logout.
    await using world = await World.unlinked({ clock: new ManualClock() })
    const phone = await world.pair('a')
    await world.network.strike({ kind: 'drop', account: owner })
    world.network.fault({ kind: 'login_failure', code: 503, times: Infinity })
    await world.reaches('a', 'disconnected')
    const waiting = world.service.get('/api/instances/a/wait-ready')
    world.network.clearFaults()
    await world.command('/a/logout')
    assert.equal((await waiting).status, 408)
    assert.equal(phone.companions.length <= 1, true)

    await world.create({ name: 'b' })
    const second = world.service.get('/api/instances/b/wait-ready')
    await world.service.request('DELETE', '/api/instances/b')
    assertRefused(await second, 'SERVICE_INSTANCE_NOT_FOUND')
  })

  test('answers 408 at once for an instance that is logged out, and waits again after refresh-qr', async () => {
    // The clock stands still, so that no time-out passes.
    const clock = new ManualClock()
    await using world = await World.unlinked({ clock })
    const phone = await world.pair('a')
    phone.unlink()
    await world.reaches('a', 'logged_out')
    const { status, body } = await world.service.get('/api/instances/a/wait-ready')
    const { error, state, last_error, last_error_code } = body as Record<string, string>
    assert.deepEqual([status, state, last_error_code], [408, 'logged_out', 'logged_out'])
    assert.match(error ?? '', /refresh-qr/)
    assert.match(last_error ?? '', /removed from the account or logged out/)
    await world.command('/a/refresh-qr')
    const waiting = world.service.get('/api/instances/a/wait-ready')
    await phone.scan(await world.qrText('a'))
    assert.equal((await waiting).status, 200)
  })

  test('is answered when the service stops', async () => {
    const clock = new ManualClock()
    const seed = async (database: Database) => {
      await database.write(
        database.query.insertInto('instances').values(sampleInstanceColumns('a', { state: 'disconnected' })),
      )
    }
    const service = await Service.start({ clock, seed })
    const timers = clock.pending
    const waiting = service.get('/api/instances/a/wait-ready')
    await waitUntil('the request waits', () => clock.pending > timers)
    await service[Symbol.asyncDispose]()
    assertRefused(await waiting, 'SERVICE_STOPPING', /stops/)
  })

  test('refuses a timeout that is no number of seconds', async () => {
    await using world = await World.unlinked()
    await world.create({ name: 'a' })
    for (const timeout of ['0', '-1', 'x', '1.5', '', '%00', '1&timeout=2']) {
      assertRefused(
        await world.service.get(`/api/instances/a/wait-ready?timeout=${timeout}`),
        'SERVICE_BAD_REQUEST',
        /timeout/,
      )
    }
  })
})

describe('a linked instance', () => {
  test('pairs by code too', async () => {
    await using world = await World.unlinked()
    const phone = world.network.account({ phone: owner })
    await world.create({ name: 'a' })
    // Right after the create: the offer of the network is waited for.
    const { status, body, text } = await world.command('/a/pairing-code', { phone: `+${owner}` })
    assert.equal(status, 200, text)
    const { code, expires_in_seconds } = body as { code: string; expires_in_seconds: number }
    assert.ok(expires_in_seconds > 100 && expires_in_seconds <= 120, String(expires_in_seconds))
    await phone.link(code)
    await world.reaches('a', 'ready')
    assertRefused(await world.command('/a/pairing-code', { phone: owner }), 'SERVICE_NOT_PAIRING')
    assertRefused(await world.command('/a/pairing-code', { phone: 'abc' }), 'SERVICE_BAD_REQUEST', /phone/)
  })

  test('keeps its session over a restart and is a no-op for refresh-qr and POST', async () => {
    await using world = await World.unlinked()
    const phone = await world.pair('a')
    assert.equal((await world.command('/a/restart')).status, 200)
    await world.reaches('a', 'ready')
    assert.equal(phone.companions.length, 1)
    assert.equal(((await world.command('/a/refresh-qr')).body as { state: string }).state, 'ready')
    assert.equal(((await world.create({ name: 'a' })).body as { state: string }).state, 'ready')
    const { text } = await world.service.get('/metrics')
    assert.doesNotMatch(text, /event="disconnected"/, 'a restart is no disconnect')
    assert.match(text, /event="connected",owner_tag=""\} 1/)
  })

  test('is logged out by the phone and paired again by POST', async () => {
    await using world = await World.unlinked()
    const phone = await world.pair('a')
    phone.unlink()
    const gone = await world.reaches('a', 'logged_out')
    assert.deepEqual(
      [gone.jid, gone.phone, gone.paired_at, gone.ready_at, gone.last_jid],
      [null, '', null, null, `${owner}@s.whatsapp.net`],
    )
    assert.deepEqual((await world.service.get('/api/instances')).body, [{ name: 'a', state: 'logged_out' }])
    await world.create({ name: 'a' })
    await phone.scan(await world.qrText('a'))
    await world.reaches('a', 'ready')
  })

  test('is logged out on request, the phone forgets it, and refresh-qr pairs again', async () => {
    await using world = await World.unlinked()
    const phone = await world.pair('a')
    const answer = await world.command('/a/logout')
    assert.deepEqual(answer.body, { message: 'logged out', state: 'logged_out' })
    await waitUntil('the phone forgets the device', () => phone.companions.length === 0)
    assert.deepEqual((await world.command('/a/logout')).body, {
      message: 'there is no session to log out',
      state: 'logged_out',
    })
    assert.match(((await world.command('/a/restart')).body as { message: string }).message, /refresh-qr/)
    await world.command('/a/refresh-qr')
    await phone.scan(await world.qrText('a'))
    await world.reaches('a', 'ready')
  })

  test('leaves no key of an old session behind', async () => {
    await using world = await World.unlinked()
    const phone = await world.pair('a')
    phone.unlink()
    await world.reaches('a', 'logged_out')
    await waitUntil('the keys are gone', async () => {
      const keys = await world.service.database.read(
        world.service.database.query.selectFrom('session_keys').select('kind'),
      )
      return keys.length === 0
    })
  })
})

describe('a deleted instance', () => {
  test('stays linked on the phone, starts a new pairing by default, and is resumed on request', async () => {
    await using world = await World.unlinked()
    const phone = await world.pair('a')
    await world.service.request('DELETE', '/api/instances/a')
    assert.equal(phone.companions.length, 1, 'the session was not logged out')
    assertRefused(
      await world.create({ name: 'a', resume: true, owner_tag: 'other' }),
      'SERVICE_NOTHING_TO_RESUME',
      /owner_tag/,
    )
    const resumed = await world.create({ name: 'a', resume: true })
    assert.equal(resumed.status, 201)
    await world.reaches('a', 'ready')
    assert.equal(phone.companions.length, 1, 'not paired again')

    await world.service.request('DELETE', '/api/instances/a')
    await world.create({ name: 'a' })
    assert.equal((await world.detail('a')).state, 'qr_pending')
    await phone.scan(await world.qrText('a'))
    await world.reaches('a', 'ready')
    await world.service.request('DELETE', '/api/instances/a?logout=true')
    assertRefused(await world.create({ name: 'a', resume: true }), 'SERVICE_NOTHING_TO_RESUME', /not kept/)
  })

  test('with logout=true is unlinked and its keys are destroyed', async () => {
    await using world = await World.unlinked()
    const phone = await world.pair('a')
    await world.service.request('DELETE', '/api/instances/a?logout=true')
    await waitUntil('the phone forgets the device', () => phone.companions.length === 0)
    const { database } = world.service
    assert.deepEqual(await database.read(database.query.selectFrom('session_keys').select('session_id')), [])
    assertRefused(
      await world.service.request('DELETE', '/api/instances/b?logout=maybe'),
      'SERVICE_BAD_REQUEST',
      /logout/,
    )
  })
})
