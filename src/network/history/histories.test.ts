// Checks when a history is announced, repeated and given up.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../../test/harness/manual-clock.ts'
import { silentLog } from '../../../test/harness/logs.ts'
import { waitUntil } from '../../../test/harness/wait-until.ts'
import { Semaphore } from '../../lib/queues/semaphore.ts'
import { initAuthCreds, proto } from '../library/library.ts'
import { Histories } from './histories.ts'
import { HistoryError } from './history-error.ts'
import { HistoryRequests } from './history-requests.ts'
import { notificationOf } from './slim-notification.ts'
import { SlimHistory } from './slim-history.ts'

const { Type } = proto.Message.ProtocolMessage
const { HistorySyncType: Kind } = proto.Message
const done = { seen: 1, chats: new Set<string>(), dropped: 0 }

function infoOf(note: proto.Message.IHistorySyncNotification): proto.IWebMessageInfo {
  const historySyncNotification = { syncType: Kind.RECENT, progress: 100, ...note }
  return {
    key: { id: 'H' },
    message: { protocolMessage: { type: Type.HISTORY_SYNC_NOTIFICATION, historySyncNotification } },
  }
}

const filed = infoOf({ directPath: '/v/x', mediaKey: Buffer.alloc(32) })
const inline = infoOf({ initialHistBootstrapInlinePayload: Buffer.of(1) })

function bedOf({ isNew = false, fail = (): Error | null => null } = {}) {
  const clock = new ManualClock()
  const gone = new AbortController()
  const turn = new Semaphore(1)
  const handed: (proto.Message.IHistorySyncNotification | undefined)[] = []
  const progress: { isLast: boolean }[] = []
  const passedOver: string[] = []
  let reads = 0
  const histories = new Histories({
    receiving: {
      instance: 's',
      reception: {
        onPastProgress: (_, one) => void progress.push(one),
        onPassedOver: (_, kind) => void passedOver.push(kind),
      },
    },
    read: async (_, tell) => {
      reads += 1
      const error = fail()
      if (error) throw error
      await tell(new SlimHistory())
      return done
    },
    requests: new HistoryRequests({ socket: { fetchMessageHistory: () => Promise.resolve('') }, gone: gone.signal }),
    turn,
    creds: { ...initAuthCreds(), accountSyncCounter: isNew ? 0 : 1 },
    clock,
    log: silentLog,
    gone: gone.signal,
  })
  const read = (info: proto.IWebMessageInfo) =>
    histories.read(info, (slim) => {
      handed.push(notificationOf(slim))
      return Promise.resolve()
    })
  return { read, clock, gone, turn, handed, progress, passedOver, reads: () => reads }
}

test('the library of a new companion hears of a file before it is read, and of nothing that it could download', async () => {
  const bed = bedOf({ isNew: true })
  await bed.read(filed)
  assert.equal(bed.handed.length, 2)
  for (const note of bed.handed) assert.deepEqual([note?.directPath, note?.mediaKey], [undefined, undefined])
})

test('a history inside its notification is announced only if it must wait for its turn', async () => {
  const bed = bedOf({ isNew: true })
  await bed.read(inline)
  assert.equal(bed.handed.length, 1)
  const leave = await bed.turn.enter(new AbortController().signal)
  const waiting = bed.read(inline)
  await waitUntil('the history is announced', () => bed.handed.length === 2)
  leave()
  await waiting
  assert.equal(bed.handed.length, 3)
})

test('a notification that there is no history reaches the library as it is', async () => {
  const bed = bedOf({ isNew: true })
  await bed.read(infoOf({ syncType: Kind.NO_HISTORY, directPath: '/v/x' }))
  assert.equal(bed.handed[0]?.directPath, '/v/x')
  assert.equal(bed.reads(), 0)
})

test('a damaged history is given up after three attempts, and the library gets an empty one', async () => {
  const bed = bedOf({ fail: () => new HistoryError('damaged') })
  const reading = bed.read(filed)
  await waitUntil('the history is given up', async () => {
    await bed.clock.advance(1_000)
    return bed.passedOver.length === 1
  })
  await reading
  assert.equal(bed.reads(), 3)
  assert.equal(bed.handed.length, 1)
  assert.deepEqual(bed.progress, [{ isLast: true }])
})

test('another failure is repeated, and the next connection gets the rest', async () => {
  const bed = bedOf({ fail: () => new Error('no answer') })
  const refused = assert.rejects(bed.read(filed), /no answer/)
  await waitUntil('the first attempt has failed', () => bed.reads() === 1)
  await waitUntil('the attempts are used up', async () => {
    await bed.clock.advance(30_000)
    return bed.reads() === 10
  })
  await refused
  assert.deepEqual([bed.passedOver, bed.progress, bed.handed], [[], [], []])
})

test('nothing is given up because the connection ended', async () => {
  const bed = bedOf({ fail: () => new HistoryError('damaged') })
  const refused = assert.rejects(bed.read(filed))
  await waitUntil('the first attempt has failed', () => bed.reads() === 1)
  bed.gone.abort(new Error('gone'))
  await refused
  assert.deepEqual(bed.passedOver, [])
})
