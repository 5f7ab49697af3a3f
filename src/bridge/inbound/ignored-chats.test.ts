import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Chat } from '../../core/address.ts'
import { serviceSettings } from '../../../test/harness/service-settings.ts'
import { createIgnoredChats, createIgnoreRule } from './ignored-chats.ts'

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

test('several stars find their texts in order, and none of them twice', () => {
  const names: [pattern: string, isIgnored: boolean][] = [
    ['*', true],
    ['**', true],
    ['12*0000*1@*', true],
    ['*63*36*', false],
    ['120363000000000001@g.us*', true],
    ['*120363000000000001@g.us', true],
    ['120363*120363000000000001@g.us', false],
    ['120363000000000001@*@g.us', false],
    ['*000*000*000*000*', false],
    ['*000*000*000*', true],
  ]
  for (const [pattern, isIgnored] of names) assert.equal(createIgnoreRule([pattern])(group), isIgnored, pattern)
})

test('the patterns of each instance are its own, and a change counts at once', () => {
  const own = new Map([['a', ['*@g.us']]])
  const isIgnored = createIgnoredChats((instance) => ({ ...serviceSettings(), ignoreJids: own.get(instance) ?? [] }))
  assert.deepEqual([isIgnored('a', group), isIgnored('b', group)], [true, false])
  own.set('a', ['*@lid'])
  assert.deepEqual([isIgnored('a', group), isIgnored('a', person(null, '1'))], [false, true])
})

test('a star stands for any text, and every other sign for itself', () => {
  assert.equal(createIgnoreRule(['*@g.us'])(group), true)
  assert.equal(createIgnoreRule(['*@g.us'])(person('5511988887777', null)), false)
  assert.equal(createIgnoreRule(['*@S.WhatsApp.net'])(person('5511988887777', null)), true)
  assert.equal(createIgnoreRule(['*@gxus'])(group), false)
  assert.equal(createIgnoreRule(['1203630000'])(group), false)
})
