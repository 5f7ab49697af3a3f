// Reads a small history and then large ones for two accounts at once, and says how much memory the large ones took more.
//
// It collects no garbage while it reads: the service does not, either. The kernel's own maximum is of no use here, because a
// process begins with the maximum of the process that started it.

import { writeFileSync } from 'node:fs'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { inflateSync } from 'node:zlib'
import { systemClock } from '../../../../src/lib/clock.ts'
import { Egress } from '../../../../src/lib/egress/egress.ts'
import { publicOnly } from '../../../../src/lib/egress/policy.ts'
import { createLog } from '../../../../src/lib/log.ts'
import { Semaphore } from '../../../../src/lib/queues/semaphore.ts'
import { Histories } from '../../../../src/network/history/histories.ts'
import { HistoryRequests } from '../../../../src/network/history/history-requests.ts'
import { openHistory } from '../../../../src/network/history/history-source.ts'
import { readHistory } from '../../../../src/network/history/read-history.ts'
import { notificationOf } from '../../../../src/network/history/slim-notification.ts'
import { initAuthCreds, proto } from '../../../../src/network/library/library.ts'

type Task = { host: string; small: string; large: string[][] }

const task = JSON.parse(process.argv[2] ?? '{}') as Task
await using egress = new Egress({ policy: publicOnly() })
const gone = new AbortController().signal
const turn = new Semaphore(1)
const log = createLog({ level: 'silent', format: 'json' })
const counted = { seen: 0, pieces: 0, largestPiece: 0, bytes: 0 }
const sampleMs = 2
let mostResident = 0
setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

/** What is in use, without garbage. The second collection waits until the buffers of the first one are freed. */
function usedNow(): number {
  collect()
  collect()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

function sample(): void {
  mostResident = Math.max(mostResident, process.memoryUsage.rss())
}

function accountNamed(instance: string): Histories {
  const reception = {
    keepsSince: () => 0,
    async onPastEvents(_: string, __: string, chats: readonly { events: readonly unknown[] }[]) {
      const events = chats.reduce((sum, one) => sum + one.events.length, 0)
      counted.seen += events
      counted.pieces += 1
      counted.largestPiece = Math.max(counted.largestPiece, events)
      // As a store would do.
      counted.bytes += JSON.stringify(chats).length
      sample()
      await nextTurn()
    },
  }
  const source = { egress, agent: undefined, isElsewhere: true }
  const files = { source, mediaHost: () => Promise.resolve(task.host), turn: new Semaphore(1), clock: systemClock }
  const reading = {
    account: { keys: { get: () => Promise.resolve({}) } },
    instance,
    reception,
    turn,
    own: () => ({ phone: '5511999990001', lid: null }),
    open: (note: proto.Message.IHistorySyncNotification, signal: AbortSignal) => openHistory(note, files, signal),
  } as unknown as Parameters<typeof readHistory>[2]
  const requests = new HistoryRequests({ socket: { fetchMessageHistory: () => Promise.reject(new Error('no')) }, gone })
  return new Histories({
    receiving: { instance, reception },
    read: (note, tell) => readHistory(note, tell, reading, gone),
    requests,
    turn,
    creds: { ...initAuthCreds(), accountSyncCounter: 1 },
    clock: systemClock,
    log,
    gone,
  })
}

async function read(histories: Histories, messages: readonly string[]): Promise<void> {
  for (const encoded of messages) {
    const info = proto.WebMessageInfo.decode(Buffer.from(encoded, 'base64'))
    await histories.read(info, (slim) => {
      // As the library does.
      proto.HistorySync.decode(inflateSync(notificationOf(slim)?.initialHistBootstrapInlinePayload ?? new Uint8Array()))
      return Promise.resolve()
    })
  }
}

const accounts = task.large.map((_, index) => accountNamed(`s${index}`))
for (const one of accounts) await read(one, [task.small])
const before = { used: usedNow(), resident: process.memoryUsage.rss() }
Object.assign(counted, { seen: 0, pieces: 0 })
const samples = setInterval(sample, sampleMs)
await Promise.all(accounts.map((one, index) => read(one, task.large[index] ?? [])))
clearInterval(samples)
const residentGrowth = mostResident - before.resident
writeFileSync(1, JSON.stringify({ ...counted, usedGrowth: usedNow() - before.used, residentGrowth }))
