import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readOffline, readTyping } from './read-typing.ts'

const chatstate = (attrs: Record<string, string>, tag = 'composing', more: Record<string, string> = {}) => ({
  tag: 'chatstate',
  attrs,
  content: [{ tag, attrs: more }],
})
const bob = '5511888880001@s.whatsapp.net'

test('a recording is told apart from typing, and a pause ends both', () => {
  assert.equal(readTyping(chatstate({ from: bob }))?.state, 'typing')
  assert.equal(readTyping(chatstate({ from: bob }, 'composing', { media: 'audio' }))?.state, 'recording')
  assert.equal(readTyping(chatstate({ from: bob }, 'paused', { media: 'audio' }))?.state, 'off')
})

test('both addresses of the person are read where the stanza has them, without the device', () => {
  const both = { phone: '5511888880001', lid: '200000000000001' }
  const person = readTyping(chatstate({ from: '200000000000001:7@lid', sender_pn: bob }))
  assert.deepEqual(person, { chat: { kind: 'person', ...both }, who: both, state: 'typing' })
  const member = { from: '1203@g.us', participant: '200000000000001@lid', participant_pn: bob }
  assert.deepEqual(readTyping(chatstate(member)), { chat: { kind: 'group', id: '1203' }, who: both, state: 'typing' })
})

test('a stanza without a person, a chat or a known state tells nothing', () => {
  assert.equal(readTyping(chatstate({ from: '1203@g.us' })), undefined)
  assert.equal(readTyping(chatstate({ from: 'status@broadcast', participant: bob })), undefined)
  assert.equal(readTyping(chatstate({})), undefined)
  assert.equal(readTyping(chatstate({ from: bob }, 'dancing')), undefined)
  assert.equal(readTyping({ tag: 'chatstate', attrs: { from: bob } }), undefined)
})

test('only a person who goes offline is told by a presence', () => {
  const presence = (attrs: Record<string, string>) => readOffline({ tag: 'presence', attrs })
  assert.equal(presence({ from: bob, type: 'unavailable', last: 'deny' })?.state, 'off')
  assert.equal(presence({ from: bob }), undefined)
  assert.equal(presence({ from: '1203@g.us', type: 'unavailable' }), undefined)
})
