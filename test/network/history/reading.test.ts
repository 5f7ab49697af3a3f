// Checks how a connection reads the histories that the phone sends: inline and from files, whole, damaged, and after a crash.

import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { test } from 'node:test'
import { deflateSync } from 'node:zlib'
import { keyShare } from '../../../sim/network/accounts/history.ts'
import { lidJid, phoneJid } from '../../../src/core/address.ts'
import { proto } from '../../../src/network/library/library.ts'
import { encodeVarint } from '../../../src/network/library/wire-fields.ts'
import { trustMediaHost } from '../../harness/media-authority.ts'
import { ManualClock } from '../../harness/manual-clock.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { Bed } from '../harness/bed.ts'
import { Line } from '../harness/line.ts'
import { createNetwork, settingsFor } from '../harness/network-room.ts'
import { encodeHistory, filedHistory, inlineHistory, kept, Kind } from './harness/history-files.ts'
import { PastLog } from './harness/past-log.ts'

const bob = '5511888880001@s.whatsapp.net'
const march = 1_772_000_000

async function open(past: PastLog, more: Parameters<typeof Bed.open>[0] = {}): Promise<Bed> {
  const bed = await Bed.open({ ...more, network: { reception: past.reception } })
  trustMediaHost(bed.sim)
  return bed
}

async function unfinished(bed: Bed): Promise<number> {
  const query = bed.database.query.selectFrom('unfinished').select(({ fn }) => fn.countAll<number>().as('count'))
  const [row] = await bed.database.read(query)
  return Number(row?.count)
}

/** The directories of files that are being downloaded. */
async function scratches(): Promise<string[]> {
  return (await readdir(tmpdir())).filter(
    (name) => name.startsWith('causeway-scratch-') && name.includes(`-${process.pid}-`),
  )
}

/** Waits for a message while the time of the pauses passes. */
async function readWithTime(past: PastLog, id: string, clock: ManualClock): Promise<void> {
  await waitUntil(`${id} has come`, async () => {
    await clock.advance(1_000)
    return past.ids.includes(id)
  })
}

const oneChat = (...ids: string[]) => ({
  conversations: [{ id: bob, messages: ids.map((id, index) => kept(bob, id, march - index)) }],
})

test('a history in the notification and one on the media host become pieces, and nothing is left to do', async () => {
  const past = new PastLog()
  await using bed = await open(past)
  const phone = await bed.linked('s')
  await bed.online('s')
  phone.tell(phone.companion, inlineHistory(Kind.INITIAL_BOOTSTRAP, oneChat('A1', 'A2')))
  phone.tell(phone.companion, filedHistory(bed.sim, Kind.RECENT, oneChat('B1')).message)
  await past.waitFor('B1')
  assert.deepEqual(past.ids, ['A1', 'A2', 'B1'])
  const [first] = past.pieces.entries
  assert.deepEqual([first?.instance, first?.cause, first?.chats[0]?.jid], ['s', 'pairing', bob])
  assert.equal(first?.chats[0]?.oldest?.key.id, 'A2')
  await past.progress.waitFor('the end', ({ isLast }) => isLast)
  assert.deepEqual(past.progress.entries, [{ isLast: false }, { isLast: true }])
  await waitUntil('nothing is left to do', async () => (await unfinished(bed)) === 0)
  assert.deepEqual(await scratches(), [])
})

test('nothing is handed out while nothing is kept, and the library still learns the pairs of a file', async () => {
  const past = new PastLog()
  past.since = null
  await using bed = await open(past)
  const phone = await bed.linked('s')
  await bed.online('s')
  const pairs = { phoneNumberToLidMappings: [{ pnJid: bob, lidJid: lidJid('900001') }] }
  phone.tell(phone.companion, filedHistory(bed.sim, Kind.RECENT, { ...oneChat('A1'), ...pairs }).message)
  await past.progress.waitFor('the end', ({ isLast }) => isLast)
  assert.equal(past.pieces.length, 0)
  assert.deepEqual(past.pairs.at(-1), { phone: '5511888880001', lid: '900001' })
})

test('the chat of a LID becomes a person by the pair that stands behind its messages', async () => {
  const past = new PastLog()
  await using bed = await open(past)
  const phone = await bed.linked('s')
  await bed.online('s')
  const lid = lidJid('900002')
  const receipt = { userJid: phoneJid('5511888880003') }
  const hidden = lidJid('900003')
  const conversations = [
    { id: lid, messages: [kept(lid, 'L1', march)], pnJid: phoneJid('5511888880002') },
    { id: hidden, messages: [kept(hidden, 'L2', march, { fromMe: true, userReceipt: [receipt] })] },
  ]
  phone.tell(phone.companion, filedHistory(bed.sim, Kind.FULL, { conversations }).message)
  const named = await past.waitFor('L1')
  assert.deepEqual(named.chat, { kind: 'person', phone: '5511888880002', lid: '900002' })
  assert.deepEqual((await past.waitFor('L2')).chat, { kind: 'person', phone: '5511888880003', lid: '900003' })
})

test('messages of a chat without an address come under the address that they name', async () => {
  const past = new PastLog()
  await using bed = await open(past)
  const phone = await bed.linked('s')
  await bed.online('s')
  const emptyId = Buffer.of(0x0a, 0)
  const named = Buffer.from(proto.Conversation.encode({ id: '', messages: [kept(bob, 'A1', march)] }).finish())
  assert.deepEqual(named.subarray(0, emptyId.length), emptyId)
  const chat = named.subarray(emptyId.length)
  const packed = deflateSync(Buffer.concat([Buffer.of(0x08, 0x03, 0x12), encodeVarint(chat.length), chat]))
  phone.tell(phone.companion, filedHistory(bed.sim, Kind.RECENT, packed).message)
  await past.waitFor('A1')
  assert.equal(past.pieces.entries[0]?.chats[0]?.jid, bob)
})

test('keys of the app state do not wait for a history that is being stored', async () => {
  const past = new PastLog()
  const storing = Promise.withResolvers<undefined>()
  past.storing = () => storing.promise
  await using bed = await open(past)
  const phone = await bed.linked('s')
  await bed.online('s')
  phone.tell(phone.companion, inlineHistory(Kind.RECENT, oneChat('A1')))
  const key = { id: Buffer.from('000000000009', 'hex'), data: Buffer.alloc(32, 9) }
  phone.tell(phone.companion, keyShare(key, Date.now()))
  const stored = () => bed.store.load('s', 'app-state-sync-key', [key.id.toString('base64')])
  await waitUntil('the key is stored', async () => (await stored()).length === 1)
  assert.equal(past.pieces.length, 0)
  storing.resolve(undefined)
  await past.waitFor('A1')
})

test('one history is read at a time, over all accounts', async () => {
  const past = new PastLog()
  const storing = Promise.withResolvers<undefined>()
  let inside = 0
  let most = 0
  past.storing = async () => {
    inside += 1
    most = Math.max(most, inside)
    await storing.promise
    inside -= 1
  }
  await using bed = await open(past)
  const phones = [await bed.linked('s1', '5511999990001'), await bed.linked('s2', '5511999990002')]
  await bed.online('s1')
  await bed.online('s2')
  for (const phone of phones) phone.tell(phone.companion, inlineHistory(Kind.RECENT, oneChat('A1')))
  await waitUntil('a history is read', () => inside > 0)
  await waitUntil('both are stored', async () => (await unfinished(bed)) === 2)
  storing.resolve(undefined)
  await waitUntil('both are read', () => past.pieces.length === 2)
  assert.equal(most, 1)
})

test('a history that is being downloaded does not hold up the histories of other accounts', async () => {
  const past = new PastLog()
  await using bed = await open(past)
  const slow = await bed.linked('s1', '5511999990001')
  const other = await bed.linked('s2', '5511999990002')
  await bed.online('s1')
  await bed.online('s2')
  const { message, directPath } = filedHistory(bed.sim, Kind.RECENT, oneChat('A1'))
  bed.sim.media.trouble(directPath, 'stalled')
  slow.tell(slow.companion, message)
  await waitUntil('the download has begun', async () => (await scratches()).length === 1)
  other.tell(other.companion, inlineHistory(Kind.RECENT, oneChat('B1')))
  await past.waitFor('B1')
  assert.deepEqual(past.ids, ['B1'])
})

for (const [trouble, what] of [
  ['missing', 'that is gone'],
  ['corrupt', 'that is damaged'],
] as const) {
  test(`a file ${what} is tried again, then it is counted and the next one is read`, async () => {
    const past = new PastLog()
    const clock = new ManualClock()
    await using bed = await open(past, { clock })
    const phone = await bed.linked('s')
    await bed.online('s')
    const { message, directPath } = filedHistory(bed.sim, Kind.RECENT, oneChat('A1'))
    bed.sim.media.trouble(directPath, trouble)
    phone.tell(phone.companion, message)
    phone.tell(phone.companion, filedHistory(bed.sim, Kind.RECENT, oneChat('B1')).message)
    await readWithTime(past, 'B1', clock)
    assert.deepEqual(past.ids, ['B1'])
    assert.deepEqual(past.passedOver, ['unreadable history'])
    await waitUntil('nothing is left to do', async () => (await unfinished(bed)) === 0)
    assert.deepEqual(past.progress.entries, [{ isLast: true }, { isLast: true }])
    assert.equal(bed.logs.withMessage('history of the phone cannot be read, its messages are left out').length, 1)
  })
}

test('a history whose bytes are no history is counted and does not end the connection', async () => {
  const past = new PastLog()
  const clock = new ManualClock()
  await using bed = await open(past, { clock })
  const phone = await bed.linked('s')
  const line = await bed.online('s')
  phone.tell(phone.companion, filedHistory(bed.sim, Kind.RECENT, encodeHistory(Kind.RECENT, oneChat('A1'))).message)
  phone.tell(phone.companion, inlineHistory(Kind.RECENT, oneChat('B1')))
  await readWithTime(past, 'B1', clock)
  assert.deepEqual(past.passedOver, ['unreadable history'])
  await line.session.probe(60_000)
})

test('a history that was not read to its end is read again by the next process', async () => {
  const past = new PastLog()
  past.storing = () => new Promise(() => undefined)
  const bed = await open(past)
  await using stack = new AsyncDisposableStack()
  stack.use(bed)
  const phone = await bed.linked('s')
  await bed.online('s')
  phone.tell(phone.companion, filedHistory(bed.sim, Kind.RECENT, oneChat('A1')).message)
  await waitUntil('the notification is stored', async () => (await unfinished(bed)) === 1)
  await waitUntil('the message is confirmed', () => phone.companion.books.size === 0)
  await bed.network[Symbol.asyncDispose]()

  const later = new PastLog()
  const { database, epoch, sim } = bed
  const stored = { database, epoch, settings: settingsFor(sim) }
  const next = stack.use(createNetwork(stored, { reception: later.reception }))
  await Line.open(next, 's')
  await later.waitFor('A1')
  await waitUntil('nothing is left to do', async () => (await unfinished(bed)) === 0)
})
