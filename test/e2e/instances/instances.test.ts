import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { assertRefused } from '../../harness/assertions.ts'
import { RawServer } from '../../harness/raw-server.ts'
import { World } from '../../harness/world.ts'
import { ManualClock } from '../../harness/manual-clock.ts'
import { waitUntil } from '../../harness/wait-until.ts'

type Entry = { action: string; actor: string; instance: string; metadata: Record<string, unknown> }

const audit = async (world: World) =>
  ((await world.service.get('/api/audit')).body as { entries: Entry[] }).entries.filter(({ action }) =>
    action.startsWith('instance.'),
  )

describe('instance records', () => {
  test('a new name is 201 and pairs, the same name again is 200 with its state', async () => {
    await using world = await World.unlinked()
    const created = await world.create({ name: 'a', owner_tag: 'acme', inbox_id: 4 })
    assert.deepEqual([created.status, created.body], [201, { name: 'a', state: 'qr_pending', jid: null }])
    const again = await world.create({ name: 'a' })
    assert.deepEqual([again.status, again.body], [200, { name: 'a', state: 'qr_pending', jid: null }])
    assert.deepEqual((await world.service.get('/api/instances')).body, [{ name: 'a', state: 'qr_pending' }])
    assert.deepEqual((await world.service.get('/api/instances/a/state')).body, {
      instance: 'a',
      state: 'qr_pending',
      jid: null,
    })
  })

  test('the detail shows every field', async () => {
    const clock = new ManualClock()
    // It does not answer, so that no attempt to connect fails meanwhile.
    await using proxy = await RawServer.start()
    const { host } = new URL(proxy.url)
    await using world = await World.unlinked({ clock })
    const subscribers = [
      { url: 'https://hooks.example/x', events: ['paired'] },
      { url: 'http://10.0.0.1/y', events: [] },
    ]
    await world.create({
      name: 'a',
      owner_tag: 'acme',
      events_webhook_url: 'http://x',
      events_webhook_subscribers: subscribers,
      network_proxy: `http://user:pass@${host}/`,
      outgoing_rate_limit: 20,
    })
    const { body } = await world.service.get('/api/instances/a')
    const at = new Date(clock.now()).toISOString()
    assert.deepEqual(
      { ...(body as object), qr: null },
      {
        name: 'a',
        state: 'qr_pending',
        jid: null,
        phone: '',
        qr: null,
        created_at: at,
        paired_at: null,
        ready_at: null,
        last_event_at: at,
        owner_tag: 'acme',
        spamguard_enabled: false,
        spamguard_blocks: 0,
        inbox_id: 0,
        events_webhook_url: 'http://x',
        events_webhook_subscribers: subscribers,
        last_qr_msg_id: 0,
        last_jid: null,
        reconnect_attempts: 0,
        last_error: null,
        last_error_code: null,
        network_proxy: `http://${host}`,
        outgoing_rate_limit: 20,
        history: { enabled: false, days: 7, asked_days: 0 },
        pending_logout: false,
        conversation_mode: null,
        new_conversation_status: null,
        ignore_jids: null,
        header_template: null,
        quote_style: null,
        reject_calls: null,
        locale: null,
        sign_messages: null,
      },
    )
  })

  test('a patch keeps absent and null fields, clears with empty ones, and names what it touched', async () => {
    await using world = await World.unlinked()
    const one = [{ url: 'https://hooks.example/x', events: ['paired'] }]
    await world.create({ name: 'a', owner_tag: 'acme', inbox_id: 4, events_webhook_subscribers: one })
    const patch = (body: unknown) => world.service.request('PATCH', '/api/instances/a', { body })
    const answer = await patch({
      spamguard_enabled: true,
      owner_tag: null,
      inbox_id: null,
      events_webhook_subscribers: null,
    })
    assert.deepEqual(answer.body, {
      name: 'a',
      state: 'qr_pending',
      jid: null,
      spamguard_enabled: true,
      spamguard_window_ms: 30_000,
      spamguard_min_chars: 10,
    })
    const kept = (await world.service.get('/api/instances/a')).body as Record<string, unknown>
    assert.deepEqual([kept['owner_tag'], kept['inbox_id'], kept['events_webhook_subscribers']], ['acme', 4, one])
    await patch({ owner_tag: '', inbox_id: 0, events_webhook_subscribers: [], last_qr_msg_id: 7 })
    await patch({ network_proxy: null, outgoing_rate_limit: null })
    const cleared = (await world.service.get('/api/instances/a')).body as Record<string, unknown>
    assert.deepEqual(
      [cleared['owner_tag'], cleared['inbox_id'], cleared['events_webhook_subscribers'], cleared['last_qr_msg_id']],
      ['', 0, [], 7],
    )
    await patch({})
    const entries = await audit(world)
    assert.deepEqual(
      entries.map(({ action, metadata }) => [action, metadata['fields']]),
      [
        ['instance.patch', ['network_proxy', 'outgoing_rate_limit']],
        ['instance.patch', ['events_webhook_subscribers', 'inbox_id', 'last_qr_msg_id', 'owner_tag']],
        ['instance.patch', ['spamguard_enabled']],
        ['instance.create', ['events_webhook_subscribers', 'inbox_id', 'owner_tag']],
      ],
    )
  })

  test('settings sent with an existing name apply like a patch', async () => {
    await using world = await World.unlinked()
    await world.create({ name: 'a', owner_tag: 'acme' })
    await world.create({ name: 'a', inbox_id: 9 })
    const detail = (await world.service.get('/api/instances/a')).body as Record<string, unknown>
    assert.deepEqual([detail['owner_tag'], detail['inbox_id']], ['acme', 9])
  })

  test('a deleted instance is gone from every route and its metric series too', async () => {
    await using world = await World.unlinked()
    await world.create({ name: 'a' })
    await world.qrText('a')
    const told = 'service_lifecycle_events_total{instance="a",event="qr_generated",owner_tag=""} 1'
    // Counted when the event is stored, which is after the code can be seen.
    await waitUntil('it has a series', async () => (await world.service.get('/metrics')).text.includes(told))
    const deleted = await world.service.request('DELETE', '/api/instances/a')
    assert.deepEqual([deleted.status, deleted.body], [200, { message: 'deleted' }])
    assert.doesNotMatch((await world.service.get('/metrics')).text, /instance="a"/)
    assert.deepEqual((await world.service.get('/api/instances')).body, [])
    const [last] = await audit(world)
    assert.deepEqual([last?.action, last?.instance], ['instance.delete', 'a'])
  })

  test('every route of an unknown name is 404 and creates nothing', async () => {
    await using world = await World.unlinked()
    const routes = [
      ['GET', ''],
      ['GET', '/state'],
      ['GET', '/qr'],
      ['GET', '/wait-ready?timeout=1'],
      ['GET', '/usage'],
      ['PATCH', ''],
      ['DELETE', ''],
      ['POST', '/refresh-qr'],
      ['POST', '/restart'],
      ['POST', '/logout'],
      ['POST', '/pairing-code'],
    ] as const
    for (const [method, path] of routes) {
      const body = method === 'PATCH' ? {} : path === '/pairing-code' ? { phone: '5511999990001' } : undefined
      const answer = await world.service.request(method, `/api/instances/nobody${path}`, body ? { body } : {})
      assertRefused(answer, 'SERVICE_INSTANCE_NOT_FOUND')
    }
    assert.deepEqual((await world.service.get('/api/instances')).body, [])
  })

  test('a body that is not right is refused and creates nothing', async () => {
    await using world = await World.unlinked()
    const wrong: [unknown, RegExp][] = [
      [{}, /name/],
      [{ name: '' }, /name/],
      [{ name: 'bulk' }, /name/],
      [{ name: '-a' }, /name/],
      [{ name: '../a' }, /name/],
      [{ name: 'a b' }, /name/],
      [{ name: 'a\u0000' }, /name/],
      [{ name: 'x'.repeat(65) }, /name/],
      [{ name: 7 }, /name must be string/],
      [{ name: ['a'] }, /name must be string/],
      [{ name: 'a', inbox_id: '4' }, /inbox_id must be integer/],
      [{ name: 'a', inbox_id: -1 }, /inbox_id/],
      [{ name: 'a', owner_tag: 'x'.repeat(129) }, /owner_tag/],
      [{ name: 'a', owner_tag: 'a\nb' }, /owner_tag/],
      [{ name: 'a', events_webhook_url: 'ftp://x' }, /events_webhook_url/],
      [{ name: 'a', events_webhook_url: 'http://169.254.169.254/latest' }, /events_webhook_url/],
      [{ name: 'a', events_webhook_subscribers: {} }, /events_webhook_subscribers must be array/],
      [{ name: 'a', events_webhook_subscribers: [{}] }, /url/],
      [{ name: 'a', events_webhook_subscribers: [{ url: 'http://hooks.example' }] }, /https/],
      [{ name: 'a', events_webhook_subscribers: [{ url: 'http://8.8.8.8' }] }, /https/],
      [{ name: 'a', events_webhook_subscribers: [{ url: 'https://[fe80::1]' }] }, /https/],
      [{ name: 'a', events_webhook_subscribers: [{ url: 'https://x', events: ['nonsense'] }] }, /events/],
      [{ name: 'a', resume: 'yes' }, /resume must be boolean/],
    ]
    for (const [body, sentence] of wrong) assertRefused(await world.command('', body), 'SERVICE_BAD_REQUEST', sentence)
    assert.deepEqual((await world.service.get('/api/instances')).body, [])
    assert.deepEqual(await audit(world), [])
  })

  test('subscribers may have local names and addresses', async () => {
    await using world = await World.unlinked()
    const near = [
      'http://127.0.0.1:1',
      'http://[::1]/',
      'http://hooks',
      'http://desk.local',
      'http://a.internal/x',
      'https://far.example',
    ]
    const answer = await world.create({ name: 'a', events_webhook_subscribers: near.map((url) => ({ url })) })
    assert.equal(answer.status, 201)
  })
})

describe('bulk', () => {
  test('create answers per name, a wrong one does not stop the others, and again is the same', async () => {
    await using world = await World.unlinked()
    const body = { names: ['a', 'not a name', 'b', 'a'] }
    for (let round = 0; round < 2; round++) {
      const items = (await world.command('/bulk', body)).body as { name: string; state: string; error?: string }[]
      assert.deepEqual(
        items.map(({ name, state }) => [name, state]),
        [
          ['a', 'qr_pending'],
          ['not a name', 'error'],
          ['b', 'qr_pending'],
          ['a', 'qr_pending'],
        ],
      )
      assert.match(items[1]?.error ?? '', /instance name/)
    }
    assert.equal(((await world.service.get('/api/instances')).body as unknown[]).length, 2)
  })

  test('create refuses no names, too many, and no array', async () => {
    await using world = await World.unlinked()
    const many = Array.from({ length: 501 }, (_, i) => `n${i}`)
    for (const body of [{}, { names: [] }, { names: many }, { names: 'a' }, { names: [1] }]) {
      assertRefused(await world.command('/bulk', body), 'SERVICE_BAD_REQUEST', /names/)
    }
    assert.deepEqual((await world.service.get('/api/instances')).body, [])
  })

  test('status gives details of all, or of those named', async () => {
    await using world = await World.unlinked()
    await world.command('/bulk', { names: ['a', 'b', 'c'] })
    const all = (await world.service.get('/api/instances/bulk/status')).body as { name: string; qr: object }[]
    assert.deepEqual(
      all.map(({ name }) => name),
      ['a', 'b', 'c'],
    )
    assert.ok(all[0]?.qr)
    const some = (await world.service.get('/api/instances/bulk/status?names=c,nobody')).body as {
      name: string
      state: string
    }[]
    assert.deepEqual(
      some.map(({ name, state }) => [name, state]),
      [
        ['c', 'qr_pending'],
        ['nobody', 'not_found'],
      ],
    )
  })
})
