// Checks what the phone is asked for: the history of a pairing, and older messages of a chat.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SimPhone } from '../../../sim/network/accounts/sim-phone.ts'
import type { Anchor } from '../../../src/core/history/past-events.ts'
import type { SessionSignal } from '../../../src/core/network.ts'
import { proto } from '../../../src/network/library/library.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { Bed } from '../harness/bed.ts'
import { inlineHistory, kept, Kind } from './harness/history-files.ts'
import { PastLog } from './harness/past-log.ts'

const march = 1_772_000_000
const never = () => new AbortController().signal

function anchorOf(chat: string, id: string): Anchor {
  return { key: { chat, id, fromMe: false, participant: null }, at: march * 1000 }
}

/** The requests for history that the phone got, in place of its answers. */
function silence(phone: SimPhone): proto.Message.PeerDataOperationRequestMessage.IHistorySyncOnDemandRequest[] {
  const asked: proto.Message.PeerDataOperationRequestMessage.IHistorySyncOnDemandRequest[] = []
  phone.onMessage = (_, { message }) => {
    const { protocolMessage } = message.deviceSentMessage?.message ?? message
    const request = protocolMessage?.peerDataOperationRequestMessage?.historySyncOnDemandRequest
    if (request) asked.push(request)
  }
  return asked
}

test('a request resolves when the older messages of the chat are stored', async () => {
  const past = new PastLog()
  await using bed = await Bed.open({ network: { reception: past.reception } })
  const phone = await bed.linked('s')
  const bob = bed.sim.person({ phone: '5511888880001', pushName: 'Bob' })
  const ids = [0, 1, 2].map((n) => phone.remember(bob, { from: bob.user, text: `old ${n}`, at: march + n }))
  const line = await bed.online('s')
  const newest = ids[2] ?? ''
  const chat = phone.archive.find(newest)?.key?.remoteJid ?? ''
  const { seen } = await line.session.requestHistory(anchorOf(chat, newest), 50, never())
  assert.equal(seen, 2)
  assert.deepEqual(past.ids, [ids[1], ids[0]])
  assert.deepEqual(
    past.pieces.entries.map(({ cause }) => cause),
    ['request'],
  )
  assert.equal(past.progress.length, 0)
})

test('the phone is told the anchor with its time in milliseconds, and an answer without the id counts by its chat', async () => {
  const past = new PastLog()
  await using bed = await Bed.open({ network: { reception: past.reception } })
  const phone = await bed.linked('s')
  const asked = silence(phone)
  const chat = '5511888880001@s.whatsapp.net'
  const line = await bed.online('s')
  const requested = line.session.requestHistory(anchorOf(chat, 'A1'), 20, never())
  await waitUntil('the phone is asked', () => asked.length === 1)
  const [request] = asked
  assert.equal(Number(request?.oldestMsgTimestampMs), march * 1000)
  assert.deepEqual([request?.chatJid, request?.oldestMsgId, request?.onDemandMsgCount], [chat, 'A1', 20])
  const conversations = [{ id: chat, messages: [kept(chat, 'A0', march - 60)] }]
  phone.tell(phone.companion, inlineHistory(Kind.ON_DEMAND, { conversations }))
  assert.deepEqual(await requested, { seen: 1 })
})

test('a request ends with its signal and with its connection', async () => {
  const past = new PastLog()
  await using bed = await Bed.open({ network: { reception: past.reception } })
  const phone = await bed.linked('s')
  const asked = silence(phone)
  const line = await bed.online('s')
  const anchor = anchorOf('5511888880001@s.whatsapp.net', 'A1')
  const controller = new AbortController()
  const late = line.session.requestHistory(anchor, 20, controller.signal)
  await waitUntil('the phone is asked', () => asked.length === 1)
  controller.abort(new Error('too late'))
  await assert.rejects(late, /too late/)
  const cut = line.session.requestHistory(anchor, 20, never())
  await waitUntil('the phone is asked again', () => asked.length === 2)
  await Promise.all([assert.rejects(cut, /connection ended/), line.session.close()])
  await assert.rejects(line.session.requestHistory(anchor, 20, never()))
})

/** The properties with which companions register, as the phone gets them. */
function watchRegistrations(): proto.IDeviceProps[] {
  const seen: proto.IDeviceProps[] = []
  const encode = proto.DeviceProps.encode.bind(proto.DeviceProps)
  proto.DeviceProps.encode = (props, writer) => {
    const written = encode(props, writer)
    seen.push(proto.DeviceProps.decode(written.finish()))
    return encode(props, writer)
  }
  return seen
}

test('a pairing asks for the full history of so many days, or not at all', async () => {
  await using bed = await Bed.open()
  const seen = watchRegistrations()
  for (const historyDays of [14, null]) {
    const signals: string[] = []
    const name = { sessionId: `s${historyDays}`, instance: 's', historyDays }
    const session = await bed.network.open(name, ({ kind }) => void signals.push(kind))
    await waitUntil('a code is shown', () => signals.includes('qr'))
    await session.close()
  }
  assert.deepEqual(
    seen.map(({ requireFullSync, historySyncConfig }) => [
      requireFullSync,
      historySyncConfig?.fullSyncDaysLimit ?? null,
    ]),
    [
      [true, 14],
      [false, null],
    ],
  )
})

test('the last file of a pairing that asked for all is the last one of the full history', async () => {
  const past = new PastLog()
  await using bed = await Bed.open({ network: { reception: past.reception } })
  const phone = bed.sim.account({ phone: '5511999990001', name: 'Ana' })
  Object.assign(phone.history.habits, { bootstrapPerChat: 1, recentPerChat: 1, chunkMessages: 1 })
  const now = Math.floor(bed.sim.clock.now() / 1000)
  const bob = bed.sim.person({ phone: '5511888880001' })
  for (const age of [300, 200, 100]) phone.remember(bob, { text: 'past', from: bob.user, at: now - age })
  const signals: SessionSignal[] = []
  await bed.network.open({ sessionId: 's', instance: 's', historyDays: 7 }, (signal) => void signals.push(signal))
  const code = () => signals.find((signal) => signal.kind === 'qr')?.text
  await waitUntil('a code is shown', () => code() !== undefined)
  await phone.scan(code() ?? '')
  await waitUntil('the pairing is over', () => signals.some(({ kind }) => kind === 'closed'))
  await bed.online('s')
  await past.progress.waitFor('the end', ({ isLast }) => isLast)
  // The bootstrap, one recent piece and two pieces of the full history. Push names are no past.
  assert.deepEqual(
    past.progress.entries.map(({ isLast }) => isLast),
    [false, false, false, true],
  )
})
