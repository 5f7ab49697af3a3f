import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chatJid, parseChat } from './address.ts'

test('people and groups are told apart, by phone or by anonymous id, from any device', () => {
  const phone = { kind: 'person', phone: '5511999990001', lid: null }
  assert.deepEqual(parseChat('5511999990001@s.whatsapp.net'), phone)
  assert.deepEqual(parseChat('5511999990001:12@s.whatsapp.net'), phone)
  assert.deepEqual(parseChat('5511999990001@c.us'), phone)
  assert.deepEqual(parseChat('123456789012345:3@lid'), { kind: 'person', phone: null, lid: '123456789012345' })
  assert.deepEqual(parseChat('120363025555555555@g.us'), { kind: 'group', id: '120363025555555555' })
  assert.deepEqual(parseChat('5511999990001-1400000000@g.us'), { kind: 'group', id: '5511999990001-1400000000' })
})

test('an address of neither a person nor a group is no chat', () => {
  for (const jid of [
    '',
    'status@broadcast',
    '1400000000@broadcast',
    '120363025555555555@newsletter',
    '5511999990001',
    'maria@s.whatsapp.net',
    '55119-1@s.whatsapp.net',
    ' 5511999990001@s.whatsapp.net',
    '5511999990001@s.whatsapp.net\n',
    '5511999990001@s.whatsapp.net.example',
  ]) {
    assert.equal(parseChat(jid), undefined, jid)
  }
})

test('a chat is written the way it was read, by phone where the phone is known', () => {
  for (const jid of ['5511999990001@s.whatsapp.net', '123456789012345@lid', '120363025555555555@g.us']) {
    const chat = parseChat(jid)
    assert.ok(chat)
    assert.equal(chatJid(chat), jid)
  }
  assert.equal(chatJid({ kind: 'person', phone: '4915112345678', lid: '99' }), '4915112345678@s.whatsapp.net')
})
