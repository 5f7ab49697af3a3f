import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Chat, Person } from '../../core/address.ts'
import type { Envelope } from '../../core/message.ts'
import type { PersonRecord } from '../../storage/stores/people/people-store.ts'
import { EventContexts } from './event-context.ts'

const maria: PersonRecord = { id: 'p1', phone: '55', lid: null, pushName: 'Maria', savedName: null, formerPhones: [] }
const merged: PersonRecord = { id: 'p2', phone: '55', lid: '99', pushName: 'Maria', savedName: 'Mum', formerPhones: [] }

function setUp() {
  const calls: Person[] = []
  const current = { record: maria }
  const contexts = new EventContexts({
    people: {
      upsert: (_, person) => {
        calls.push(person)
        return Promise.resolve(current.record)
      },
      lookUp: () => Promise.resolve(undefined),
      isCurrent: (_, record) => record === current.record,
    },
    groups: { find: () => Promise.resolve(null) },
    groupWord: () => 'Group',
    ownPerson: () => ({ phone: '1', lid: null }),
  })
  return { contexts, calls, current }
}

function event(chat: Chat, changes: Partial<Envelope> = {}): Envelope {
  return { id: 'W1', at: 0, chat, sender: { phone: '55', lid: null }, fromMe: false, pushName: 'Maria', ...changes }
}

const direct: Chat = { kind: 'person', phone: '55', lid: null }

test('the person of a chat of two is resolved once: when the event is queued', async () => {
  const { contexts, calls } = setUp()
  const chat = await contexts.chatOf('a', event(direct))
  const context = await contexts.contextOf('a', event(direct), chat)
  assert.equal(calls.length, 1)
  assert.deepEqual([context.chat.chatId, context.senderId, context.sender.pushName], ['p1', 'p1', 'Maria'])
})

test('a person whose record was merged while the event waited is resolved again', async () => {
  const { contexts, calls, current } = setUp()
  const chat = await contexts.chatOf('a', event(direct))
  current.record = merged
  const context = await contexts.contextOf('a', event(direct), chat)
  assert.equal(calls.length, 2)
  assert.deepEqual([context.chat.chatId, context.senderId, context.sender.savedName], ['p2', 'p2', 'Mum'])
})

test('the writer in a group is resolved once: at the attempt', async () => {
  const { contexts, calls } = setUp()
  const group: Chat = { kind: 'group', id: '120' }
  const chat = await contexts.chatOf('a', event(group))
  assert.deepEqual([chat, calls.length], [{ chatId: '120@g.us', person: null }, 0])
  const context = await contexts.contextOf('a', event(group), chat)
  assert.deepEqual([context.chat.chatId, context.senderId, calls.length], ['120@g.us', 'p1', 1])
})

test('a sender with an address that the chat does not show is resolved as well', async () => {
  const { contexts, calls } = setUp()
  const told = event(direct, { sender: { phone: '55', lid: '99' } })
  await contexts.contextOf('a', told, await contexts.chatOf('a', told))
  assert.deepEqual(calls.at(-1), { phone: '55', lid: '99' })
})

test('the account itself is the sender of what was written on its phone', async () => {
  const { contexts } = setUp()
  const own = event(direct, { fromMe: true })
  const context = await contexts.contextOf('a', own, null)
  assert.deepEqual([context.chat.chatId, context.senderId, context.sender.phone], ['p1', 'me', '1'])
})
