// Callbacks as the helpdesk really sends them: signature and meaning of each.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { OutgoingCommand } from '../../src/core/helpdesk/callback.ts'
import { readCallback } from '../../src/downstream/callback.ts'
import { checkSignature } from '../../src/downstream/signature.ts'
import { DeskClient } from '../sim-helpdesk/harness/desk-client.ts'
import { WebhookCatcher } from '../sim-helpdesk/harness/webhook-catcher.ts'
import { HelpdeskBed, text } from './harness/helpdesk-bed.ts'

async function start() {
  const bed = await HelpdeskBed.start()
  const catcher = await WebhookCatcher.start()
  await new DeskClient(bed.helpdesk).patch('/inboxes/1', { channel: { webhook_url: catcher.url } })
  const ana = bed.helpdesk.world.addAgent({ name: 'Ana', inboxIds: [1] })
  return {
    bed,
    catcher,
    ana: new DeskClient(bed.helpdesk, ana.token),
    async [Symbol.asyncDispose]() {
      await bed[Symbol.asyncDispose]()
      await catcher[Symbol.asyncDispose]()
    },
  }
}

const short = (command: OutgoingCommand) => (command.kind === 'ignored' ? command.reason : command.kind)

test('each of the seven events is signed and understood', async () => {
  await using stage = await start()
  const { bed, catcher, ana } = stage
  const chat = await bed.openChat()
  const posted = await bed.inbox.post(chat, text('hi', { sourceId: '3EB0A' }))
  await bed.inbox.post(chat, text('from the phone', { type: 'outgoing', isEcho: true, sourceId: '3EB0B' }))
  await ana.post(`/conversations/${chat}/update_last_seen`)
  await ana.post(`/conversations/${chat}/messages`, { content: 'note', private: true })
  const reply = { content: 'hello', content_attributes: { in_reply_to: posted.id } }
  const sent = await ana.post(`/conversations/${chat}/messages`, reply)
  await ana.post(`/conversations/${chat}/toggle_typing_status`, { typing_status: 'on' })
  await ana.post(`/conversations/${chat}/toggle_typing_status`, { typing_status: 'off' })
  await ana.delete(`/conversations/${chat}/messages/${sent.body.id}`)
  await ana.post(`/conversations/${chat}/toggle_status`, { status: 'resolved' })
  await bed.helpdesk.settled()
  const { webhook_secret: secret } = bed.helpdesk.facts
  const found = new Map<string, Set<string>>()
  for (const { event, body, raw, headers } of catcher.caught.entries) {
    assert.equal(checkSignature({ headers, rawBody: Buffer.from(raw) }, secret, bed.helpdesk.clock.now()), 'right')
    found.set(event, (found.get(event) ?? new Set()).add(short(readCallback(body))))
  }
  // One that was built before the agent looked tells nothing.
  assert.ok(found.get('conversation_updated')?.has('seen'))
  found.delete('conversation_updated')
  assert.deepEqual(Object.fromEntries([...found].map(([event, kinds]) => [event, [...kinds].sort()])), {
    conversation_created: ['unused_event'],
    conversation_status_changed: ['status'],
    conversation_typing_off: ['typing'],
    conversation_typing_on: ['typing'],
    message_created: ['echo', 'not_outgoing', 'private', 'send'],
    message_updated: ['changed'],
  })
  const command = readCallback(catcher.events('message_created').find(({ body }) => body['id'] === sent.body.id)?.body)
  assert.deepEqual(command, {
    kind: 'send',
    conversation: { accountId: 1, inboxId: 1, conversationId: chat },
    recipient: { identifier: '5511988887777@s.whatsapp.net', phone: '+5511988887777', sourceId: '5511988887777' },
    messageId: sent.body.id,
    writtenAt: bed.helpdesk.messages(chat).find(({ id }) => id === sent.body.id)?.createdAt,
    content: 'hello',
    attachments: [],
    lacksFile: false,
    inReplyTo: { messageId: posted.id, sourceId: '3EB0A' },
    agentName: 'Ana',
    isByPerson: true,
  })
  const changed = catcher.events('message_updated').map(({ body }) => readCallback(body))
  assert.ok(changed.some((each) => each.kind === 'changed' && each.deleted && each.messageId === sent.body.id))
})

test('the attachment of a callback can be downloaded as it is named', async () => {
  await using stage = await start()
  const { bed, catcher, ana } = stage
  const chat = await bed.openChat()
  const form = new FormData()
  form.append('content', 'see this')
  form.append('attachments[]', new File(['%PDF-1.7 …'], 'invoice 1.pdf', { type: 'application/pdf' }))
  await ana.send('POST', `/conversations/${chat}/messages`, form)
  const command = readCallback((await catcher.waitFor('message_created')).body)
  assert.ok(command.kind === 'send')
  const [attachment] = command.attachments
  assert.deepEqual([attachment?.fileName, attachment?.mimeType], ['invoice 1.pdf', 'application/pdf'])
  const { signal } = new AbortController()
  const file = await bed.downstream.download(bed.destination, attachment?.url ?? '', signal)
  assert.deepEqual([file.fileName, file.mimeType, file.size], ['invoice 1.pdf', 'application/pdf', attachment?.size])
  file.stream.destroy()
})
