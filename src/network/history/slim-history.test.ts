// Checks what the library gets of a history: all but its messages, byte by byte.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { proto } from '../library/library.ts'
import { HistoryParser } from './history-parser.ts'
import { SlimHistory } from './slim-history.ts'

const { HistorySyncType: Kind } = proto.HistorySync
const lid = '900001@lid'
const receipts = (userJid: string) => ({ userReceipt: [{ userJid }] })
const message = (id: string, fromMe: boolean, more: Partial<proto.IWebMessageInfo> = {}) => ({
  message: { key: { remoteJid: lid, id, fromMe }, message: { conversation: 'hello' }, messageTimestamp: 1, ...more },
})

function slimOf(bytes: Uint8Array): SlimHistory {
  const slim = new SlimHistory()
  const parser = new HistoryParser()
  for (const part of parser.read(Buffer.from(bytes))) slim.add(part)
  parser.end()
  return slim
}

function decoded(sync: Partial<proto.IHistorySync>): proto.HistorySync {
  return proto.HistorySync.decode(slimOf(proto.HistorySync.encode({ syncType: Kind.RECENT, ...sync }).finish()).bytes())
}

test('names, pairs, timers and tokens stay, and messages go', () => {
  const chat = {
    ...{ id: lid, name: 'Bob', pnJid: '5511888880001@s.whatsapp.net', ephemeralExpiration: 86_400 },
    ...{ tcToken: Buffer.from('token'), tcTokenTimestamp: 5 },
  }
  const pairs = [{ pnJid: '5511888880002@s.whatsapp.net', lidJid: '900002@lid' }]
  const pushnames = [{ id: lid, pushname: 'Bobby' }]
  const sync = { progress: 40, chunkOrder: 3, pushnames, phoneNumberToLidMappings: pairs }
  const slim = decoded({ ...sync, conversations: [{ ...chat, messages: [message('A1', false)] }] })
  const expected = proto.HistorySync.encode({ syncType: Kind.RECENT, ...sync, conversations: [chat] }).finish()
  assert.deepEqual(slim.toJSON(), proto.HistorySync.decode(expected).toJSON())
})

test('a field that the schema of the library lacks stays as it is', () => {
  const salt = Buffer.from([0x9a, 0x01, 0x02, 0x68, 0x69])
  const bytes = Buffer.concat([proto.HistorySync.encode({ syncType: Kind.RECENT }).finish(), salt])
  assert.deepEqual(slimOf(bytes).bytes(), bytes)
})

test('the receipt of an own message tells the number of a LID, unless the phone tells it itself', () => {
  const messages = [
    message('A1', false, receipts('5511000000000@s.whatsapp.net')),
    message('A2', true, receipts('5511888880001@s.whatsapp.net')),
  ]
  const [found] = decoded({ conversations: [{ id: lid, messages }] }).conversations
  assert.equal(found?.pnJid, '5511888880001@s.whatsapp.net')
  const told = '5511888880009@s.whatsapp.net'
  const [known] = decoded({ conversations: [{ id: lid, messages, pnJid: told }] }).conversations
  assert.equal(known?.pnJid, told)
})

test('chats and messages are counted', () => {
  const conversations = [{ id: lid, messages: [message('A1', false), message('A2', true)] }, { id: 'x@g.us' }]
  const { chats, messages } = slimOf(proto.HistorySync.encode({ syncType: Kind.RECENT, conversations }).finish())
  assert.deepEqual([...chats], [lid, 'x@g.us'])
  assert.equal(messages, 2)
})

test('what does not fit is left out and counted', () => {
  const conversations = Array.from({ length: 20 }, (_, n) => ({ id: `${n}@lid`, name: 'x'.repeat(600_000) }))
  const slim = slimOf(proto.HistorySync.encode({ syncType: Kind.RECENT, conversations }).finish())
  assert.ok(slim.bytes().length < 8.1 * 1024 * 1024)
  assert.equal(slim.dropped, 7)
})
