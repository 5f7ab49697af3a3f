// The callbacks of the latency benchmark, from a process of their own, in the shape in which Chatwoot sends them.

import { SeededRandom } from '../../sim/network/seeded-random.ts'
import { serveParent } from '../child.ts'
import { callbackBody, postCallback } from '../outbound-load.ts'
import { atArrivals } from './arrivals.ts'
import type { Arrivals } from './arrivals.ts'

export type Chat = { webhook: string; person: string }
type Desk = { chats: Chat[]; place: { accountId: number; inboxId: number } }

const random = new SeededRandom('which chat')

/** Resolves when it is answered. */
async function write({ chats, place }: Desk, index: number): Promise<void> {
  const chat = chats[index]
  if (!chat) throw new Error('there is no such chat')
  await postCallback(chat.webhook, callbackBody(chat.person, index + 1, 'It is 20 reais.', place))
}

const desk = {
  /** So many agents take the chats in turn. Each writes when the message before is answered. */
  writeInTurn: async ({ agents, count, ...all }: Desk & { agents: number; count: number }) => {
    let written = 0
    const writeOn = async () => {
      while (written < count) await write(all, written++ % all.chats.length)
    }
    await Promise.all(Array.from({ length: agents }, writeOn))
  },
  /** How long each took from the moment that it was due until its answer, and how late it was. */
  writeAtArrivals: async ({ arrivals, ...all }: Desk & { arrivals: Arrivals }) => {
    const answers: Promise<number>[] = []
    const late = await atArrivals(arrivals, (dueAt) => {
      answers.push(write(all, random.below(all.chats.length)).then(() => performance.now() - dueAt))
    })
    return { times: await Promise.all(answers), late }
  },
}

export type CallbackDesk = typeof desk

serveParent(desk)
