// Checks how the messages of a history are divided into pieces.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PastChat } from '../../core/history/past-events.ts'
import { proto } from '../library/library.ts'
import { HistoryParser } from './history-parser.ts'
import { HistoryPieces } from './history-pieces.ts'

const bob = '5511888880001@s.whatsapp.net'
const eve = '900002@lid'
const start = 1_772_000_000

function chatWith(id: string, count: number, text = 'hello'): proto.IConversation {
  const messages = Array.from({ length: count }, (_, n) => ({
    message: {
      ...{ key: { remoteJid: id, id: `${id}-${n}`, fromMe: false }, message: { conversation: text } },
      messageTimestamp: start - n,
    },
  }))
  return { id, messages }
}

async function piecesOf(conversations: proto.IConversation[], since = 0): Promise<PastChat[][]> {
  const delivered: PastChat[][] = []
  const pieces = new HistoryPieces({
    since,
    own: () => ({ phone: '5511999990001', lid: null }),
    complete: (people) => {
      for (const person of people) if (person.lid === '900002') person.phone = '5511888880002'
      return Promise.resolve()
    },
    deliver: (chats) => {
      delivered.push([...chats])
      return Promise.resolve()
    },
  })
  const parser = new HistoryParser()
  const syncType = proto.HistorySync.HistorySyncType.RECENT
  for (const part of parser.read(Buffer.from(proto.HistorySync.encode({ syncType, conversations }).finish()))) {
    await pieces.add(part)
  }
  await pieces.flush()
  return delivered
}

const sizes = (pieces: PastChat[][]) => pieces.map((chats) => chats.reduce((sum, { events }) => sum + events.length, 0))

test('a piece holds 200 messages at most, of one chat or of several', async () => {
  const pieces = await piecesOf([chatWith(bob, 450), chatWith(eve, 30)])
  assert.deepEqual(sizes(pieces), [200, 200, 80])
  assert.deepEqual(
    pieces[2]?.map(({ jid }) => jid),
    [bob, eve],
  )
})

test('a piece holds about one megabyte at most', async () => {
  const pieces = await piecesOf([chatWith(bob, 10, 'x'.repeat(400_000))])
  assert.deepEqual(sizes(pieces), [3, 3, 3, 1])
})

test('old messages are counted and are no reason for a piece, and the oldest one is the anchor', async () => {
  const pieces = await piecesOf([chatWith(bob, 1_000)], (start - 9) * 1000)
  assert.deepEqual(sizes(pieces), [10])
  const [only] = pieces[0] ?? []
  assert.equal(only?.leftOut, 990)
  assert.deepEqual([only.oldest?.key.id, only.oldest?.at], [`${bob}-999`, (start - 999) * 1000])
})

test('people are completed in the chat and in its events', async () => {
  const [[chat] = []] = await piecesOf([chatWith(eve, 1)])
  const known = { phone: '5511888880002', lid: '900002' }
  assert.deepEqual(chat?.chat, { kind: 'person', ...known })
  assert.deepEqual(chat.events[0]?.event.chat, { kind: 'person', ...known })
  assert.deepEqual(chat.events[0].event.sender, known)
})

test('status updates, channels and broadcast lists are left out, and a chat without messages is told', async () => {
  const others = ['status@broadcast', '120@newsletter', '55119@broadcast'].map((id) => chatWith(id, 2))
  const pieces = await piecesOf([...others, { id: bob }])
  assert.deepEqual(pieces, [
    [{ jid: bob, chat: { kind: 'person', phone: '5511888880001', lid: null }, events: [], leftOut: 0, oldest: null }],
  ])
})

test('zero characters, which storage refuses, are removed', async () => {
  const [[chat] = []] = await piecesOf([chatWith(bob, 1, 'a\0b')])
  const event = chat?.events[0]?.event
  assert.ok(event?.kind === 'message' && event.content.type === 'text')
  assert.equal(event.content.text, 'ab')
})
