// The events of a connection as subscribers hear of them: what is in them, who gets them, and that the signature holds.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { owner, ownerJid } from '../../harness/instance-api.ts'
import { LifecycleWorld } from '../../harness/lifecycle-world.ts'
import { assertPayload } from '../../harness/subscriber-server.ts'

const story = [
  'qr_generated',
  'paired',
  'connected',
  'disconnected',
  'unreachable',
  'reconnected',
  'logged_out',
] as const

type Listeners = { settings: (url: (path: string) => string) => object; hears: Record<string, readonly string[]> }

const ways: Record<string, Listeners> = {
  'the single URL': { settings: (url) => ({ events_webhook_url: url('/one') }), hears: { '/one': story } },
  'several subscribers': {
    settings: (url) => ({
      events_webhook_url: url('/unused'),
      events_webhook_subscribers: [
        { url: url('/all') },
        { url: url('/empty'), events: [] },
        { url: url('/some'), events: ['paired', 'unreachable', 'logged_out', 'strike'] },
        { url: url('/none'), events: ['strike'] },
      ],
    }),
    hears: {
      '/all': story,
      '/empty': story,
      '/some': ['paired', 'unreachable', 'logged_out'],
      '/none': [],
      '/unused': [],
    },
  },
}

describe('the life of an account is told to', () => {
  for (const [way, { settings, hears }] of Object.entries(ways)) {
    test(way, async () => {
      await using world = await LifecycleWorld.open()
      const { subscribers, clock } = world
      const asked = settings((path) => subscribers.url(path))
      const phone = await world.pair('a', owner, { owner_tag: 'acme', ...asked })
      await world.cut()
      const { last_error } = await world.detail('a')
      await clock.advance(60_000)
      await world.restore()
      await clock.advance(5000)
      const witness = Object.keys(hears)[0] ?? ''
      const downtime = (await subscribers.gets(witness, 'reconnected')).payload['downtime_seconds']
      assert.ok(Number(downtime) >= 60, String(downtime))
      phone.unlink()
      await world.reaches('a', 'logged_out')
      await subscribers.gets(witness, 'logged_out')

      const always = { instance: 'a', owner_tag: 'acme', jid: ownerJid }
      const extras: Record<string, object> = {
        qr_generated: { jid: null },
        unreachable: { reason: last_error, code: null },
        disconnected: { reason: last_error, code: null },
        reconnected: { downtime_seconds: downtime },
      }
      for (const [path, expected] of Object.entries(hears)) {
        for (const event of expected) {
          const received = await subscribers.gets(path, event)
          if (event !== 'logged_out') assertPayload(received, { event, ...always, ...extras[event] })
          else {
            const { reason, code } = received.payload
            assertPayload(received, { event, ...always, reason, code: 401 })
            assert.equal(typeof reason, 'string')
            assert.equal(code, 401)
          }
        }
        assert.deepEqual(subscribers.events(path), expected, path)
      }
    })
  }
})

test('all subscribers hear of an event under the same id', async () => {
  await using world = await LifecycleWorld.open()
  const { subscribers } = world
  const both = ['/x', '/y'].map((path) => ({ url: subscribers.url(path) }))
  await world.create({ name: 'a', events_webhook_subscribers: both })
  const [x, y] = await Promise.all(['/x', '/y'].map((path) => subscribers.gets(path, 'qr_generated')))
  assert.equal(x?.raw, y?.raw)
})

test('every shown code is an event, with the id of the message that carries the code before it', async () => {
  await using world = await LifecycleWorld.open({ qrLifetimeMs: 1500 })
  const { subscribers } = world
  await world.create({ name: 'a', events_webhook_url: subscribers.url('/one') })
  await subscribers.gets('/one', 'qr_generated')
  const changed = await world.service.request('PATCH', '/api/instances/a', { body: { last_qr_msg_id: 77 } })
  assert.equal(changed.status, 200)
  await subscribers.gets('/one', 'qr_generated', 3)
  const payloads = subscribers.at('/one', 'qr_generated').map(({ payload }) => payload)
  assert.equal('last_qr_msg_id' in (payloads[0] ?? {}), false)
  assert.equal(payloads[2]?.['last_qr_msg_id'], 77)
  assert.equal(new Set(payloads.map(({ id }) => id)).size, payloads.length)
})

describe('a strike is told', () => {
  test('with a logout when the account is banned', async () => {
    await using world = await LifecycleWorld.open()
    const { subscribers, clock } = world
    await world.pair('a', owner, { events_webhook_url: subscribers.url('/one') })
    world.network.fault({ kind: 'login_failure', code: 403, times: Infinity })
    await world.network.strike({ kind: 'drop', account: owner })
    await world.reaches('a', 'disconnected')
    await clock.advance(2000)
    const strike = await subscribers.gets('/one', 'strike')
    await subscribers.gets('/one', 'logged_out')
    const { reason } = strike.payload
    assert.match(String(reason), /locked/)
    assertPayload(strike, { event: 'strike', instance: 'a', owner_tag: '', jid: ownerJid, reason, code: 403 })
    assert.deepEqual(subscribers.events('/one').slice(1).toSorted(), [
      'connected',
      'disconnected',
      'logged_out',
      'paired',
      'strike',
    ])
  })

  test('once for a ban that ends, and the end is no second strike', async () => {
    await using world = await LifecycleWorld.open()
    const { subscribers, clock } = world
    await world.pair('a', owner, { events_webhook_subscribers: [{ url: subscribers.url('/s'), events: ['strike'] }] })
    world.network.fault({ kind: 'login_failure', code: 402, times: Infinity, ban: { code: 101, expire: 120 } })
    await world.network.strike({ kind: 'drop', account: owner })
    await world.reaches('a', 'disconnected')
    await clock.advance(2000)
    const strike = await subscribers.gets('/s', 'strike')
    const { reason } = strike.payload
    assertPayload(strike, { event: 'strike', instance: 'a', owner_tag: '', jid: ownerJid, reason, code: 402 })
    await world.reaches('a', 'disconnected')
    await clock.advance(115_000)
    await world.restore()
    await clock.advance(10_000)
    assert.deepEqual(await world.events('a').then(({ strike }) => strike), 1)
  })
})
