import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Chat } from '../../core/address.ts'
import { createIgnoreRule } from './ignored-chats.ts'

const person = (phone: string | null, lid: string | null): Chat => ({ kind: 'person', phone, lid })
const group: Chat = { kind: 'group', id: '120363000000000001' }

test('without a pattern every chat is bridged', () => {
  const isIgnored = createIgnoreRule([])
  assert.deepEqual([person('5511988887777', '200000000000001'), group].map(isIgnored), [false, false])
})

test('a person is ignored by the number and by the LID, whichever of them is known', () => {
  for (const pattern of ['5511988887777@s.whatsapp.net', '200000000000001@lid']) {
    const isIgnored = createIgnoreRule(['other@lid', pattern])
    assert.equal(isIgnored(person('5511988887777', '200000000000001')), true, pattern)
    assert.equal(isIgnored(person('5511988880000', '200000000000009')), false, pattern)
  }
  assert.equal(createIgnoreRule(['200000000000001@lid'])(person(null, '200000000000001')), true)
  assert.equal(createIgnoreRule(['5511988887777@s.whatsapp.net'])(person('5511988887777', null)), true)
})

test('a star stands for any text, and every other sign for itself', () => {
  assert.equal(createIgnoreRule(['*@g.us'])(group), true)
  assert.equal(createIgnoreRule(['*@g.us'])(person('5511988887777', null)), false)
  assert.equal(createIgnoreRule(['*@S.WhatsApp.net'])(person('5511988887777', null)), true)
  assert.equal(createIgnoreRule(['*@gxus'])(group), false)
  assert.equal(createIgnoreRule(['1203630000'])(group), false)
})
