// The outside world of the history benchmark, in a process of its own: phones that send their history, people who write
// meanwhile, and a helpdesk.

import { setTimeout as sleep } from 'node:timers/promises'
import { calm } from '../sim/helpdesk/settings.ts'
import { BufferJSON } from '../sim/network/library.ts'
import { SimWorld } from '../sim/sim-world.ts'
import { serveParent } from './child.ts'
import { pastChats } from './history-past.ts'
import type { PastPlan } from './history-past.ts'

/** The last piece of a history has the progress 100. */
type Sending = { number: string; plan: PastPlan; piece: number; pieces: number }
type Writing = { stop: AbortController; times: Promise<number[]> }

const writers = 20
const arriveMs = 120_000
const { network, helpdesk } = await SimWorld.start({
  seed: 'bench history',
  network: { logLimit: 0 },
  helpdesk: { messagesPerMinute: 1_000_000, searchesPerMinute: 1_000_000, quirks: calm },
})
const people = Array.from({ length: writers }, (_, n) => network.person({ phone: `5511888880${100 + n}` }))
/** The conversation of each writer. A search in one conversation stays fast while others fill. */
const conversations = new Map<number, number>()
let writing: Writing | undefined

function phoneOf(number: string) {
  return network.phone(number) ?? network.account({ phone: number })
}

/** Resolves to the milliseconds until the helpdesk has the message. */
async function writeOne(number: string, n: number): Promise<number> {
  const writer = n % writers
  const began = performance.now()
  const sent = people[writer]?.text(phoneOf(number), `message ${n}`)
  const isIt = ({ sourceId }: { sourceId: string | null }) => sourceId === sent?.id
  const { conversationId } = await helpdesk.waitForMessage(conversations.get(writer), isIt, arriveMs)
  conversations.set(writer, conversationId)
  return performance.now() - began
}

async function writeUntil(signal: AbortSignal, number: string, everyMs: number): Promise<number[]> {
  const times: Promise<number>[] = []
  for (let n = 0; !signal.aborted; n++) {
    times.push(writeOne(number, n))
    await sleep(everyMs)
  }
  return Promise.all(times)
}

const desk = {
  facts: () => ({
    url: network.url,
    rootKey: network.rootKey.toString('hex'),
    certificate: network.authority.pem,
    helpdesk: helpdesk.facts,
  }),
  /** Credentials that log in without a pairing, in the library's own JSON. */
  link: (numbers: string[]) =>
    numbers.map((number) => JSON.stringify(network.linkReady(phoneOf(number)), BufferJSON.replacer)),
  online: (numbers: string[]) =>
    numbers.flatMap((number) => phoneOf(number).companions).filter(({ live, connection }) => live && connection).length,
  /** Each writer writes once, so that the conversations are there. */
  meet: async (number: string) => {
    for (let n = 0; n < writers; n++) await writeOne(number, n)
  },
  /** From now on people write, one message after every pause. */
  startWriting: ({ number, everyMs }: { number: string; everyMs: number }) => {
    const stop = new AbortController()
    const times = writeUntil(stop.signal, number, everyMs)
    // A failure is for the caller that stops the writing.
    times.catch(() => undefined)
    writing = { stop, times }
  },
  /** Resolves to the milliseconds that each message took. */
  stopWriting: () => {
    writing?.stop.abort()
    return writing?.times ?? []
  },
  /** The phone sends a piece of its history, with chats that the service does not know yet. */
  sendPast: ({ number, plan, piece, pieces }: Sending) => {
    const progress = Math.floor((piece * 100) / pieces)
    phoneOf(number).sendHistory({ kind: 'recent', conversations: pastChats(plan), chunkOrder: piece, progress })
  },
  problems: () => [...network.log.problems],
}

export type SimDesk = typeof desk

serveParent(desk)
