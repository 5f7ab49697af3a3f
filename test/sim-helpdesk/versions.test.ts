// What the REST interface of older versions lacks: one test per difference, on the versions before and after it.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { stockSettings } from '../../sim/helpdesk/settings.ts'
import { featuresOf, firstRelease, helpdeskVersions, releases } from '../../sim/helpdesk/versions.ts'
import type { HelpdeskVersion } from '../../sim/helpdesk/versions.ts'
import { DeskClient, openChat } from './harness/desk-client.ts'
import type { Json } from './harness/desk-client.ts'
import { VersionedDesk } from './harness/versioned-desk.ts'
import { WebhookCatcher } from './harness/webhook-catcher.ts'

let bridge: WebhookCatcher

before(async () => {
  bridge = await WebhookCatcher.start()
})
after(() => bridge[Symbol.asyncDispose]())

test('every version says which one it is, and has what its release had', () => {
  const has = (version: HelpdeskVersion) =>
    Object.entries(featuresOf({ ...stockSettings, transcribeAudio: true, version }))
      .filter(([feature, is]) => is && feature in firstRelease)
      .map(([feature]) => feature)
  const counts = helpdeskVersions.map((version) => [version, has(version).length])
  const all = Object.keys(firstRelease).length
  assert.deepEqual(counts.at(-1), ['4.14', all])
  assert.deepEqual(has('3.3'), [])
  for (const [at, version] of helpdeskVersions.entries()) {
    const older = helpdeskVersions[at - 1]
    if (older)
      assert.ok(
        has(older).every((feature) => has(version).includes(feature)),
        `${version} lost a feature`,
      )
  }
})

test('GET /api names the release, and /health exists since 4.11', async () => {
  for (const version of helpdeskVersions) {
    await using old = await VersionedDesk.start(bridge, version)
    assert.equal((await old.client.get('//api')).body['version'], releases[version])
    const health = await old.client.get('//health')
    assert.equal(health.status, ['4.12', '4.14'].includes(version) ? 200 : 404, version)
    old.desk.assertNothingRefused()
  }
})

test('before 3.4 a new message loses its source_id, and there is no Retry', async () => {
  for (const [version, wanted, status] of [
    ['3.3', null, 404],
    ['3.4', 'W1', 200],
  ] as const) {
    await using old = await VersionedDesk.start(bridge, version)
    const chat = await openChat(old.client, '5511')
    const { body } = await old.write(chat, { content: 'hi', source_id: 'W1' })
    assert.equal(body['source_id'], wanted, version)
    assert.equal(old.desk.messages(chat)[0]?.sourceId, wanted, version)
    assert.equal((await old.client.post(`/conversations/${chat}/messages/${body.id}/retry`)).status, status, version)
  }
})

test('PATCH of a message is a page with 404 before 4.2, also for a message that exists', async () => {
  await using old = await VersionedDesk.start(bridge, '3.4')
  const chat = await openChat(old.client, '5511')
  const { body } = await old.write(chat, { content: 'hi' })
  const patched = await old.client.patch(`/conversations/${chat}/messages/${body.id}`, { status: 'failed' })
  assert.deepEqual([patched.status, patched.headers.get('content-type')], [404, 'text/html'])
  assert.equal(old.desk.messages(chat)[0]?.status, 'sent')
  await using young = await VersionedDesk.start(bridge, '4.2')
  const there = await openChat(young.client, '5511')
  const sent = await young.write(there, { content: 'hi' })
  const path = `/conversations/${there}/messages/${sent.body.id}`
  assert.equal((await young.client.patch(path, { status: 'failed' })).body['status'], 'failed')
})

test('a conversation can be deleted since 4.3', async () => {
  for (const [version, status] of [
    ['4.2', 404],
    ['4.3', 200],
  ] as const) {
    await using old = await VersionedDesk.start(bridge, version)
    const chat = await openChat(old.client, '5511')
    assert.equal((await old.client.delete(`/conversations/${chat}`)).status, status, version)
    await old.desk.settled()
    assert.equal(old.desk.see.conversations().length, status === 200 ? 0 : 1)
  }
})

test('before 4.8 the phone filter adds a second plus; digits find the contact in every version', async () => {
  const phone = (value: string) => ({
    payload: [{ attribute_key: 'phone_number', filter_operator: 'equal_to', values: [value], query_operator: null }],
  })
  for (const version of helpdeskVersions) {
    await using old = await VersionedDesk.start(bridge, version)
    await old.client.post('/contacts', { name: 'Maria', phone_number: '+5511988887777' })
    const found = async (value: string) =>
      ((await old.client.post('/contacts/filter', phone(value))).body['payload'] as Json[]).length
    assert.equal(await found('5511988887777'), 1, version)
    assert.equal(await found('+5511988887777'), ['4.12', '4.14'].includes(version) ? 1 : 0, version)
  }
})

test('external_echo is kept since 4.11', async () => {
  for (const [version, wanted] of [
    ['4.7', {}],
    ['4.12', { external_echo: true }],
  ] as const) {
    await using old = await VersionedDesk.start(bridge, version)
    const chat = await openChat(old.client, '5511')
    await old.write(chat, { content: 'hi', source_id: 'W1', content_attributes: { external_echo: true } })
    assert.deepEqual(old.desk.messages(chat)[0]?.contentAttributes, wanted, version)
  }
})

test('of a multipart file name only filename="…" counts before 4.14', async () => {
  for (const [version, name] of [
    ['4.12', 'Relat_rio.pdf'],
    ['4.14', 'Relatório.pdf'],
  ] as const) {
    await using old = await VersionedDesk.start(bridge, version)
    const chat = await openChat(old.client, '5511')
    const part = [
      '--b',
      `Content-Disposition: form-data; name="attachments[]"; filename="Relat_rio.pdf"; filename*=UTF-8''Relat%C3%B3rio.pdf`,
      'Content-Type: application/pdf',
      '',
      '%PDF',
      '--b--',
      '',
    ].join('\r\n')
    const response = await fetch(`${old.desk.url}/api/v1/accounts/1/conversations/${chat}/messages`, {
      method: 'POST',
      headers: {
        'Api-Access-Token': old.desk.facts.api_token,
        'Content-Type': 'multipart/form-data; boundary=b',
      },
      body: part,
    })
    assert.equal(response.status, 200)
    assert.equal(old.desk.messages(chat)[0]?.files[0]?.filename, name, version)
  }
})

test('a source_id has at most 255 characters before 4.9', async () => {
  for (const [version, status] of [
    ['4.7', 422],
    ['4.12', 200],
  ] as const) {
    await using old = await VersionedDesk.start(bridge, version)
    const chat = await openChat(old.client, '5511')
    const answer = await old.write(chat, { content: 'hi', source_id: 'x'.repeat(256) })
    assert.equal(answer.status, status, version)
    assert.equal((await old.write(chat, { content: 'hi', source_id: 'x'.repeat(255) })).status, 200)
  }
})

test('the public list shows every conversation of the contact before 4.7', async () => {
  for (const [version, wanted] of [
    ['4.3', 2],
    ['4.7', 1],
  ] as const) {
    await using old = await VersionedDesk.start(bridge, version)
    await openChat(old.client, '5511')
    const contact_id = old.desk.see.contacts()[0]?.id
    await old.client.post('/conversations', { inbox_id: 1, contact_id, source_id: 'other' })
    const list = await fetch(
      `${old.desk.url}/public/api/v1/inboxes/${old.desk.inbox.identifier}/contacts/5511/conversations`,
    )
    assert.equal(((await list.json()) as unknown[]).length, wanted, version)
  }
})

test('the search counts all results before 4.11, and says has_more since then', async () => {
  for (const version of ['4.7', '4.12'] as const) {
    await using old = await VersionedDesk.start(bridge, version)
    for (let at = 0; at < 20; at++) await old.client.post('/contacts', { name: `Maria ${at}`, identifier: `${at}@lid` })
    await old.client.post('/contacts', { name: 'Maria without anything' })
    const { body } = await old.client.get('/contacts/search?q=Maria')
    const meta = version === '4.12' ? { count: 15, current_page: 1, has_more: true } : { count: 20, current_page: 1 }
    assert.deepEqual(body['meta'], meta, version)
  }
})

test('the flood limit and the limit of searches come with 3.9', async () => {
  for (const [version, status] of [
    ['3.4', 200],
    ['4.2', 422],
  ] as const) {
    await using old = await VersionedDesk.start(bridge, version, { messagesPerMinute: 1, searchesPerMinute: 1 })
    const chat = await openChat(old.client, '5511')
    await old.write(chat, { content: 'one' })
    assert.equal((await old.write(chat, { content: 'two' })).status, status, version)
    await old.client.get('/contacts/search?q=x')
    assert.equal((await old.client.get('/contacts/search?q=x')).status, version === '3.4' ? 200 : 429)
  }
})

test('update_last_seen writes every time before 4.11, later once an hour', async () => {
  for (const [version, moves] of [
    ['4.7', true],
    ['4.12', false],
  ] as const) {
    await using old = await VersionedDesk.start(bridge, version)
    const chat = await openChat(old.client, '5511')
    const seenAt = () => old.desk.see.conversations()[0]?.agentLastSeenAt
    await old.client.post(`/conversations/${chat}/update_last_seen`)
    const first = seenAt()
    await old.desk.advance(60_000)
    await old.client.post(`/conversations/${chat}/update_last_seen`)
    assert.equal(seenAt() !== first, moves, version)
  }
})

test('a bot may type since 4.11.2 and set attributes since 4.2; the public API resolves since 3.7', async () => {
  for (const version of ['3.4', '4.2', '4.12'] as const) {
    await using old = await VersionedDesk.start(bridge, version)
    const chat = await openChat(old.client, '5511')
    const bot = new DeskClient(old.desk, old.desk.world.addBot('Bot').token)
    const typed = await bot.post(`/conversations/${chat}/toggle_typing_status`, { typing_status: 'on' })
    assert.equal(typed.status, version === '4.12' ? 200 : 401, version)
    const set = await bot.post(`/conversations/${chat}/custom_attributes`, { custom_attributes: { a: 1 } })
    assert.equal(set.status, version === '3.4' ? 401 : 200, version)
    const base = `//public/api/v1/inboxes/${old.desk.inbox.identifier}/contacts/5511/conversations/${chat}`
    assert.equal((await old.client.post(`${base}/toggle_status`)).status, version === '3.4' ? 404 : 200, version)
  }
})
