// What the webhooks of older versions lack: one test per difference, on the versions before and after it.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { openChat } from './harness/desk-client.ts'
import type { Json } from './harness/desk-client.ts'
import { VersionedDesk } from './harness/versioned-desk.ts'
import { WebhookCatcher } from './harness/webhook-catcher.ts'

let bridge: WebhookCatcher

before(async () => {
  bridge = await WebhookCatcher.start()
})
after(() => bridge[Symbol.asyncDispose]())

test('typing reaches the webhook since 4.2', async () => {
  for (const [version, wanted] of [
    ['3.4', 0],
    ['4.2', 1],
  ] as const) {
    await using old = await VersionedDesk.start(bridge, version)
    const chat = await openChat(old.client, '5511')
    await old.client.post(`/conversations/${chat}/toggle_typing_status`, { typing_status: 'on' })
    await old.desk.settled()
    assert.equal(bridge.events('conversation_typing_on').length, wanted, version)
  }
})

test('signatures and the secret come with 4.13, the delivery id with 4.11.2', async () => {
  for (const version of ['4.7', '4.12', '4.14'] as const) {
    await using old = await VersionedDesk.start(bridge, version)
    await openChat(old.client, '5511')
    const { headers } = await bridge.waitFor('conversation_created')
    assert.equal('x-chatwoot-delivery' in headers, version !== '4.7', version)
    assert.equal('x-chatwoot-signature' in headers, version === '4.14', version)
    assert.equal('x-chatwoot-timestamp' in headers, version === '4.14', version)
    assert.equal('secret' in (await old.client.get('/inboxes/1')).body, version === '4.14', version)
    assert.equal((await old.client.post('/inboxes/1/reset_secret')).status, version === '4.14' ? 200 : 404, version)
    assert.equal(old.desk.facts.webhook_secret === '', version !== '4.14')
  }
})

test('an account webhook is signed since 4.11.2', async () => {
  for (const [version, isSigned] of [
    ['4.7', false],
    ['4.12', true],
  ] as const) {
    await using old = await VersionedDesk.start(bridge, version)
    await old.client.patch('/inboxes/1', { channel: { webhook_url: '' } })
    await old.client.post('/webhooks', { webhook: { url: bridge.url, subscriptions: ['conversation_created'] } })
    await openChat(old.client, '5511')
    const { headers } = await bridge.waitFor('conversation_created')
    assert.equal('x-chatwoot-signature' in headers, isSigned, version)
  }
})

test('an attachment has its extension and its content type since 4.13', async () => {
  for (const version of ['4.12', '4.14'] as const) {
    await using old = await VersionedDesk.start(bridge, version)
    const chat = await openChat(old.client, '5511')
    const form = new FormData()
    form.append('attachments[]', new Blob(['x'], { type: 'image/png' }), 'a.png')
    const { body } = await old.client.send('POST', `/conversations/${chat}/messages`, form)
    const hook = (await bridge.waitFor('message_created')).body
    for (const message of [body, hook]) {
      const [attachment] = message['attachments'] as Json[]
      const known = [attachment?.['extension'], attachment?.['content_type'], attachment?.['file_type']]
      assert.deepEqual(known, version === '4.14' ? ['png', 'image/png', 'image'] : [null, undefined, 'image'])
    }
  }
})

test('the backslash of a hard break is in the webhook before 4.13', async () => {
  for (const [version, content] of [
    ['4.12', 'one\\\ntwo'],
    ['4.14', 'one\ntwo'],
  ] as const) {
    await using old = await VersionedDesk.start(bridge, version)
    await old.write(await openChat(old.client, '5511'), { content: 'one\\\ntwo' })
    assert.equal((await bridge.waitFor('message_created')).body['content'], content, version)
  }
})

test('a survey has its link, except from 4.0 to 4.3', async () => {
  for (const version of ['3.4', '4.3', '4.7', '4.14'] as const) {
    await using old = await VersionedDesk.start(bridge, version)
    await old.client.patch('/inboxes/1', { csat_survey_enabled: true })
    const chat = await openChat(old.client, '5511')
    await old.client.post(`/conversations/${chat}/toggle_status`, { status: 'resolved' })
    const { body } = await bridge.waitFor('message_created')
    const { uuid } = (await old.client.get(`/conversations/${chat}`)).body
    const link = `Please rate this conversation, ${old.desk.url}/survey/responses/${String(uuid)}`
    assert.equal(body['content'], version === '4.3' ? 'Please rate the conversation' : link, version)
  }
})

test('a contact says whether it is blocked, and a conversation when it changed, since 4.0.2', async () => {
  for (const [version, has] of [
    ['3.4', false],
    ['4.2', true],
  ] as const) {
    await using old = await VersionedDesk.start(bridge, version)
    await openChat(old.client, '5511')
    const { body } = await bridge.waitFor('conversation_created')
    const { sender } = body['meta'] as { sender: Json }
    assert.deepEqual(['blocked' in sender, 'updated_at' in body], [has, has], version)
  }
})

test('assignee_type comes with 4.8', async () => {
  for (const [version, has] of [
    ['4.7', false],
    ['4.12', true],
  ] as const) {
    await using old = await VersionedDesk.start(bridge, version)
    await openChat(old.client, '5511')
    const { body } = await bridge.waitFor('conversation_created')
    assert.equal('assignee_type' in (body['meta'] as Json), has, version)
  }
})

describe('webhooks before 4.14 go through RestClient', () => {
  const versions = [
    ['4.12', 'Server broke connection', '302 Found'],
    ['4.14', 'end of file reached', null],
  ] as const

  test('a cut connection reads differently, and a redirect is followed only since 4.14', async () => {
    for (const [version, cut, redirect] of versions) {
      await using old = await VersionedDesk.start(bridge, version)
      const chat = await openChat(old.client, '5511')
      await old.desk.settled()
      bridge.reply = (_, response) => response.destroy()
      await old.write(chat, { content: 'cut' })
      await old.desk.settled()
      bridge.reply = ({ path }, response) => {
        if (path === '/hook') response.writeHead(302, { Location: '/elsewhere' })
        response.end()
      }
      await old.write(chat, { content: 'redirected' })
      await old.desk.settled()
      bridge.reply = (_, response) => response.end()
      const errors = old.desk.messages(chat).map(({ contentAttributes }) => contentAttributes['external_error'] ?? null)
      assert.deepEqual(errors, [cut, redirect], version)
    }
  })

  test('private addresses are refused only since 4.14, where the installation does not allow them', async () => {
    for (const [version, status] of [
      ['4.12', 'sent'],
      ['4.14', 'failed'],
    ] as const) {
      await using old = await VersionedDesk.start(bridge, version, { allowPrivateNetwork: false })
      const chat = await openChat(old.client, '5511')
      await old.write(chat, { content: 'hi' })
      await old.desk.settled()
      assert.equal(old.desk.messages(chat)[0]?.status, status, version)
    }
  })

  test('an audio file brings an extra message_updated since 4.14, a transcription since 4.3', async () => {
    for (const [version, updates] of [
      ['4.2', 0],
      ['4.12', 1],
      ['4.14', 2],
    ] as const) {
      await using old = await VersionedDesk.start(bridge, version, { transcribeAudio: true })
      const chat = await openChat(old.client, '5511')
      const form = new FormData()
      form.append('attachments[]', new Blob(['x'], { type: 'audio/mpeg' }), 'a.mp3')
      await old.client.send('POST', `/conversations/${chat}/messages`, form)
      await old.desk.settled()
      assert.equal(bridge.events('message_updated').length, updates, version)
    }
  })
})
