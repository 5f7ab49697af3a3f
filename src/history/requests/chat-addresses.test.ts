import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Chat, Person } from '../../core/address.ts'
import { findChatAddresses } from './chat-addresses.ts'

const bob = {
  ...{ id: 'bob', phone: '551188880001', lid: '77', pushName: null, savedName: null },
  formerPhones: ['5511900000000'],
}
const people = {
  lookUp: (_instance: string, { phone, lid }: Person) =>
    Promise.resolve(phone === bob.phone || lid === bob.lid ? bob : undefined),
}
const find = (chat: Chat) => findChatAddresses({ people }, 'shop', chat)

test('a known person is found by any spelling and has one chat with all addresses', async () => {
  const found = [
    { chatId: 'bob', jids: ['551188880001@s.whatsapp.net', '77@lid'], formerJids: ['5511900000000@s.whatsapp.net'] },
  ]
  assert.deepEqual(await find({ kind: 'person', phone: '5511988880001', lid: null }), found)
  assert.deepEqual(await find({ kind: 'person', phone: null, lid: '77' }), found)
})

test('each spelling of an unknown number may be a chat', async () => {
  const found = await find({ kind: 'person', phone: '5511988880002', lid: null })
  assert.deepEqual(
    found.map(({ chatId, jids }) => [chatId, ...jids]),
    [
      [null, '5511988880002@s.whatsapp.net'],
      [null, '551188880002@s.whatsapp.net'],
    ],
  )
})

test('a group has one address', async () => {
  assert.deepEqual(await find({ kind: 'group', id: '1' }), [{ chatId: '1@g.us', jids: ['1@g.us'], formerJids: [] }])
})
