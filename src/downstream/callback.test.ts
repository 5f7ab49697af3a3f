import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { BridgeError } from '../core/errors.ts'
import { messageLimits } from '../core/outbox.ts'
import { readCallback } from './callback.ts'

const conversation = {
  id: 12,
  inbox_id: 7,
  contact_inbox: { id: 5, source_id: '5511999999999' },
  messages: [{ id: 4712, account_id: 1 }],
  meta: { sender: { id: 34, identifier: '5511999999999@s.whatsapp.net', phone_number: '+5511999999999' } },
  agent_last_seen_at: 1780056000,
}
const message = {
  event: 'message_created',
  id: 4712,
  account: { id: 1, name: 'Acme' },
  inbox: { id: 7, name: 'WhatsApp' },
  content: '**Hello**',
  content_attributes: {},
  conversation,
  created_at: '2026-05-29T12:00:00.123Z',
  message_type: 'outgoing',
  private: false,
  sender: { id: 3, name: 'Ana', email: 'ana@acme.com', type: 'user' },
  source_id: null,
}
const named = { accountId: 1, inboxId: 7, conversationId: 12 }
const recipient = { identifier: '5511999999999@s.whatsapp.net', phone: '+5511999999999', sourceId: '5511999999999' }

test('a message of an agent becomes a command to send it', () => {
  assert.deepEqual(readCallback(message), {
    kind: 'send',
    conversation: named,
    recipient,
    messageId: 4712,
    writtenAt: Date.UTC(2026, 4, 29, 12, 0, 0, 123),
    content: '**Hello**',
    attachments: [],
    lacksFile: false,
    inReplyTo: null,
    agentName: 'Ana',
    isByPerson: true,
  })
})

test('only what a person writes is by a person: no bot, rule, template or campaign', () => {
  const byPerson = (more: object) => {
    const command = readCallback({ ...message, ...more })
    return 'isByPerson' in command && command.isByPerson
  }
  assert.equal(byPerson({}), true)
  assert.equal(byPerson({ event: 'message_updated' }), true, 'Retry keeps the sender')
  for (const more of [
    { sender: { id: 9, name: 'Robot', type: 'agent_bot' } },
    { sender: null, content_attributes: { automation_rule_id: 3 } },
    { content_attributes: { automation_rule_id: 3 } },
    { sender: null, message_type: 'template' },
    { message_type: 'template' },
    { message_type: 3 },
    { additional_attributes: { campaign_id: 7 } },
    { sender: { id: 34, name: 'Maria', phone_number: '+5511999999999' } },
  ]) {
    assert.equal(byPerson(more), false, JSON.stringify(more))
  }
})

test('a callback says that its conversation was created for an import, and when', () => {
  const of = (more: object) => {
    const command = readCallback({ ...message, conversation: { ...conversation, ...more } })
    return 'conversation' in command ? command.conversation : undefined
  }
  const marked = (kind: unknown) => ({ additional_attributes: { imported_history: kind } })
  assert.deepEqual(of({ ...marked('history'), created_at: 1_780_000_000 }), {
    ...named,
    createdFor: 'history',
    createdAt: 1_780_000_000_000,
  })
  assert.deepEqual(of({ ...marked('chat'), created_at: 'soon' }), { ...named, createdFor: 'chat' })
  for (const odd of [
    {},
    marked('else'),
    marked(null),
    { additional_attributes: 'x' },
    { additional_attributes: null },
  ]) {
    assert.deepEqual(of(odd), named)
  }
})

test('attachments carry address, type, size and the name in the address; a quote its references', () => {
  const url = 'https://desk.example/rails/active_storage/blobs/redirect/abc/a%20photo.jpeg?x=1'
  const command = readCallback({
    ...message,
    content: null,
    content_attributes: { in_reply_to: '4700', in_reply_to_external_id: '3EB0AA' },
    attachments: [{ id: 9, data_url: url, content_type: 'image/jpeg', file_size: 12 }, { data_url: 'nonsense' }],
  })
  assert.ok(command.kind === 'send')
  assert.equal(command.content, '')
  assert.deepEqual(command.attachments, [
    { url, mimeType: 'image/jpeg', fileName: 'a photo.jpeg', size: 12 },
    { url: 'nonsense', mimeType: null, fileName: null, size: null },
  ])
  assert.deepEqual(command.inReplyTo, { messageId: 4700, sourceId: '3EB0AA' })
})

test('files are listed in the order of their ids, not in that of the callback', () => {
  const attachments = [7, 12, 3].map((id) => ({ id, data_url: `http://desk/${id}` }))
  const command = readCallback({ ...message, attachments: [...attachments, { data_url: 'http://desk/none' }] })
  assert.ok(command.kind === 'send')
  const urls = ['http://desk/3', 'http://desk/7', 'http://desk/12', 'http://desk/none']
  assert.deepEqual(
    command.attachments.map(({ url }) => url),
    urls,
  )
})

test('a file without an address does not hold back the command, and of a long list only the first files are read', () => {
  const lacking = readCallback({ ...message, attachments: [{ id: 1, data_url: 'http://x/' }, { id: 2 }] })
  assert.ok(lacking.kind === 'send')
  assert.deepEqual([lacking.attachments.length, lacking.lacksFile], [1, true])
  const many = Array.from({ length: 10_000 }, (_, id) => ({ id, data_url: 'http://x/' }))
  const long = readCallback({ ...message, attachments: many })
  assert.ok(long.kind === 'send')
  assert.deepEqual([long.attachments.length, long.lacksFile], [messageLimits.files + 1, false])
})

test('a time that makes no sense does not hold back the message', () => {
  for (const created_at of ['soon', {}, null, undefined]) {
    const command = readCallback({ ...message, created_at })
    assert.equal(command.kind === 'send' && command.writtenAt, null)
  }
})

test('a reference that makes no sense does not hold back the message', () => {
  const attributes = { in_reply_to: { what: 1 }, in_reply_to_external_id: 5 }
  const command = readCallback({ ...message, content_attributes: attributes })
  assert.equal(command.kind === 'send' && command.inReplyTo, null)
})

test('without an event a message type is enough; numbers of types are understood; a template is sent without a name', () => {
  const bare = { ...message, event: undefined }
  assert.equal(readCallback(bare).kind, 'send')
  assert.equal(readCallback({ ...bare, message_type: 1 }).kind, 'send')
  const template = readCallback({ ...message, message_type: 'template', sender: null })
  assert.equal(template.kind === 'send' && template.agentName, null)
})

test('an id of 0, null or none cannot be told apart from others', () => {
  for (const each of [
    { ...message, id: undefined },
    { ...message, id: 0 },
    { ...message, id: null },
  ]) {
    const command = readCallback(each)
    assert.equal(command.kind === 'send' && command.messageId, null)
  }
})

test('what is not for the network is ignored with its reason', () => {
  const reasons = [
    { ...message, private: true },
    { ...message, private: 'true' },
    { ...message, private: 0 },
    { ...message, source_id: '3EB0' },
    { ...message, message_type: 'incoming' },
    { ...message, message_type: 'activity' },
    { ...message, message_type: 0 },
    { ...message, content: 'This message was deleted', content_attributes: { deleted: true } },
    { ...conversation, event: 'conversation_created' },
    { ...conversation, event: 'conversation_status_changed' },
    { event: 'webwidget_triggered' },
    { ...message, event: 'message_updated', private: true },
    { ...message, event: 'message_updated', source_id: '3EB0' },
  ].map((body) => {
    const command = readCallback(body)
    return command.kind === 'ignored' ? command.reason : command.kind
  })
  const unused = ['unused_event', 'unused_event', 'unused_event']
  const others = ['not_outgoing', 'not_outgoing', 'not_outgoing']
  assert.deepEqual(reasons, [
    'private',
    'private',
    'private',
    'echo',
    ...others,
    'deleted',
    ...unused,
    'private',
    'echo',
  ])
})

test('a message that was deleted before it was told of is not sent', () => {
  const deleted = { ...message, content: 'This message was deleted', content_attributes: { deleted: true } }
  assert.deepEqual(readCallback(deleted), { kind: 'ignored', reason: 'deleted' })
})

test('a changed message tells whether it was deleted or translated and what failed', () => {
  const changed = {
    ...readCallback(message),
    ...{ kind: 'changed', deleted: false, externalError: null, isTranslated: false },
  }
  const updated = { ...message, event: 'message_updated' }
  assert.deepEqual(readCallback(updated), changed)
  assert.deepEqual(readCallback({ ...updated, content_attributes: { deleted: true } }), { ...changed, deleted: true })
  const posted = { ...updated, source_id: '3EB0A' }
  assert.deepEqual(readCallback(posted), { kind: 'ignored', reason: 'echo' })
  assert.deepEqual(readCallback({ ...posted, content_attributes: { deleted: true } }), {
    ...{ ...changed, deleted: true },
    sourceId: '3EB0A',
  })
  const failed = { ...updated, content_attributes: { external_error: '503 Service Unavailable' } }
  assert.deepEqual(readCallback(failed), { ...changed, externalError: '503 Service Unavailable' })
  const translated = { ...updated, content_attributes: { translations: { es: 'Hola' } } }
  assert.deepEqual(readCallback(translated), { ...changed, isTranslated: true })
})

test('a conversation that was seen is understood at the top and below', () => {
  const seen = { kind: 'seen', conversation: named, recipient, at: 1780056000_000, isResolved: false }
  assert.deepEqual(readCallback({ ...conversation, event: 'conversation_updated' }), seen)
  assert.deepEqual(readCallback({ event: 'conversation_updated', conversation }), seen)
  const iso = { ...conversation, agent_last_seen_at: '2026-05-29T12:00:00.000Z' }
  assert.deepEqual(readCallback({ event: 'conversation_updated', conversation: iso }), seen)
  const never = readCallback({ ...conversation, event: 'conversation_updated', agent_last_seen_at: 0 })
  assert.equal(never.kind, 'ignored')
  const untold = { ...conversation, event: 'conversation_updated', agent_last_seen_at: undefined }
  assert.deepEqual(readCallback(untold), { ...seen, at: null })
})

test('a change of labels is read, and one that makes no sense is passed over', () => {
  const labelled = (changed_attributes: unknown) => {
    const command = readCallback({ ...conversation, event: 'conversation_updated', changed_attributes })
    return 'labels' in command ? command.labels : undefined
  }
  const list = { previous_value: ['a'], current_value: ['a', 'b'] }
  assert.deepEqual(labelled([{ updated_at: {} }, { label_list: list }]), { before: ['a'], after: ['a', 'b'] })
  assert.deepEqual(labelled([{ label_list: { previous_value: null, current_value: [1, 'x', {}] } }]), {
    before: [],
    after: ['x'],
  })
  for (const none of [undefined, null, 'label_list', [], [null], [{ status: {} }], { label_list: list }]) {
    assert.equal(labelled(none), undefined)
  }
  const many = Array.from({ length: 10_000 }, (_, n) => String(n))
  assert.equal(labelled([{ label_list: { current_value: many } }])?.after.length, 500)
})

test('the status of a conversation is read from both events that carry it', () => {
  const status = (event: string, fields: object) => readCallback({ ...conversation, event, ...fields })
  const resolved = { kind: 'status', conversation: named, recipient, isResolved: true }
  assert.deepEqual(status('conversation_status_changed', { status: 'resolved' }), resolved)
  assert.deepEqual(status('conversation_status_changed', { status: 'open' }), { ...resolved, isResolved: false })
  assert.deepEqual(status('conversation_updated', { status: 'resolved', agent_last_seen_at: 0 }), resolved)
  const seen = status('conversation_updated', { status: 'resolved' })
  assert.deepEqual(seen, { kind: 'seen', conversation: named, recipient, at: 1780056000_000, isResolved: true })
  const nested = readCallback({
    event: 'conversation_status_changed',
    conversation: { ...conversation, status: 'open' },
  })
  assert.deepEqual(nested, { ...resolved, isResolved: false })
})

test('a private note in which an agent asks for the members is a command; every other note is ignored', () => {
  const note = { ...message, private: true, content: ' Members\n' }
  assert.deepEqual(readCallback(note), {
    kind: 'note',
    conversation: named,
    recipient,
    messageId: 4712,
    asksFor: 'members',
  })
  const others = [
    { ...note, content: 'members?' },
    { ...note, content: null },
    { ...note, content: ['members'] },
    { ...note, id: null },
    { ...note, sender: null },
    { ...note, sender: 'Ana' },
    { ...note, sender: { id: 34, name: 'Bob' } },
    { ...note, conversation: 'none' },
    { ...note, private: 'true' },
    { ...note, event: 'message_updated' },
  ]
  for (const other of others) assert.deepEqual(readCallback(other), { kind: 'ignored', reason: 'private' })
})

test('typing counts of agents and bots, neither of contacts nor in private notes', () => {
  const typing = (event: string, user: object, isPrivate = false) =>
    readCallback({ event: `conversation_typing_${event}`, user, conversation, is_private: isPrivate })
  assert.deepEqual(typing('on', { type: 'user' }), { kind: 'typing', conversation: named, recipient, typing: true })
  assert.deepEqual(typing('off', { type: 'agent_bot' }), {
    kind: 'typing',
    conversation: named,
    recipient,
    typing: false,
  })
  assert.deepEqual(typing('on', { id: 34, phone_number: '+55' }), { kind: 'ignored', reason: 'unused_event' })
  assert.deepEqual(typing('on', { type: 'user' }, true), { kind: 'ignored', reason: 'private' })
})

test('a field of a wrong type is refused by its name', () => {
  const wrong: [unknown, RegExp][] = [
    [null, /body must be a JSON object/],
    [[message], /body must be a JSON object/],
    [{}, /^event must be/],
    [{ ...message, event: 5 }, /^event must be a string/],
    [{ ...message, id: '4712' }, /^id must be a positive integer/],
    [{ ...message, id: 1.5 }, /^id must be/],
    [{ ...message, content: { text: 'x' } }, /^content must be a string/],
    [{ ...message, attachments: {} }, /^attachments must be a list/],
    [{ ...message, attachments: [{ data_url: 'http://x/' }, 5] }, /^attachments\[1\] must be an object/],
    [{ ...message, conversation: 'x' }, /^conversation must be an object/],
    [
      { ...message, conversation: { meta: { sender: { identifier: 5 } } } },
      /^conversation\.meta\.sender\.identifier must/,
    ],
    [
      { ...conversation, event: 'conversation_updated', agent_last_seen_at: { toString: {} } },
      /^agent_last_seen_at must be a time/,
    ],
    [
      { ...conversation, event: 'conversation_updated', agent_last_seen_at: 'soon' },
      /^agent_last_seen_at must be a time/,
    ],
  ]
  for (const [body, sentence] of wrong) {
    assert.throws(
      () => readCallback(body),
      (error) => error instanceof BridgeError && error.code === 'SERVICE_BAD_REQUEST' && sentence.test(error.message),
      String(sentence),
    )
  }
})

test('a changed message that cannot be read is ignored with the name of the field, and never refused', () => {
  const changed = { ...message, event: 'message_updated' }
  const wrong: [unknown, RegExp][] = [
    [{ ...changed, id: 0 }, /^id must be a positive integer/],
    [{ ...changed, source_id: 5 }, /^source_id must be a string/],
    [{ ...changed, content_attributes: '{}' }, /^content_attributes must be an object/],
    [{ ...changed, content_attributes: { external_error: {} } }, /^content_attributes\.external_error must be/],
    [{ ...changed, conversation: [] }, /^conversation must be an object/],
    [{ ...changed, attachments: [null] }, /^attachments\[0\] must be an object/],
  ]
  for (const [body, flaw] of wrong) {
    const command = readCallback(body)
    assert.ok(command.kind === 'ignored' && command.reason === 'unreadable', String(flaw))
    assert.match(command.flaw ?? '', flaw)
  }
})

test('no payload, however hostile, does anything but become a command or be refused by name', () => {
  const events = [
    'message_created',
    'message_updated',
    'conversation_updated',
    'conversation_typing_on',
    'x',
    undefined,
  ]
  const junk = fc.record(
    Object.fromEntries(
      ['event', '__proto__', ...Object.keys(message), ...Object.keys(conversation), 'attachments', 'user'].map(
        (key) => [
          key,
          fc.oneof(fc.jsonValue(), fc.constantFrom<unknown>((message as Record<string, unknown>)[key], conversation)),
        ],
      ),
    ),
    { requiredKeys: [] },
  )
  fc.assert(
    fc.property(fc.constantFrom(...events), fc.oneof(junk, fc.jsonValue()), (event, body) => {
      const isObject = typeof body === 'object' && body !== null && !Array.isArray(body)
      try {
        const command = readCallback(isObject ? { ...body, event } : body)
        assert.ok(['send', 'changed', 'seen', 'status', 'typing', 'ignored'].includes(command.kind))
      } catch (error) {
        assert.ok(error instanceof BridgeError, String(error))
        assert.match(error.message, / must be /)
        assert.ok(!isObject || event !== 'message_updated', 'a changed message is never refused')
      }
    }),
    { numRuns: 2000 },
  )
})
