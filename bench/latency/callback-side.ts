// The callbacks of the latency benchmark, from a process of their own, in the shape in which Chatwoot sends them.

import { serveParent } from '../child.ts'
import { callbackBody, postCallback } from '../outbound-load.ts'
import { atArrivals } from './arrivals.ts'
import type { Arrivals } from './arrivals.ts'

export type Chat = { webhook: string; person: string }
type Callbacks = { chats: Chat[]; place: { accountId: number; inboxId: number } }

let written = 0

/** The chats take turns. Resolves when the callback is answered. */
async function write({ chats, place }: Callbacks): Promise<void> {
  const chat = chats[written++ % chats.length]
  if (!chat) throw new Error('there are no chats')
  await postCallback(chat.webhook, callbackBody(chat.person, 'It is 20 reais.', place))
}

const desk = {
  /** Each agent writes when its message before is answered. */
  writeInTurn: async ({ agents, count, ...all }: Callbacks & { agents: number; count: number }) => {
    let left = count
    const writeOn = async () => {
      while (left-- > 0) await write(all)
    }
    await Promise.all(Array.from({ length: agents }, writeOn))
  },
  /** How long each took from the moment that it was due until its answer, and how late it was. */
  writeAtArrivals: async ({ arrivals, ...all }: Callbacks & { arrivals: Arrivals }) => {
    const answers: Promise<number>[] = []
    const late = await atArrivals(arrivals, (dueAt) => {
      answers.push(write(all).then(() => performance.now() - dueAt))
    })
    return { times: await Promise.all(answers), late }
  },
}

export type CallbackDesk = typeof desk

serveParent(desk)
