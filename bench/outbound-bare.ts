// The client library alone: every account sends one message after the other, each when the one before is acknowledged.

import { generateMessageIDV2 } from 'baileys'
import { connectBare } from './bare-account.ts'
import type { BareSocket } from './bare-account.ts'
import { serveParent } from './child.ts'
import { ownCpuMs } from './own-use.ts'

const sockets: BareSocket[] = []

/** How long each took until its acknowledgement, in milliseconds. */
async function sendAll(socket: BareSocket, chat: string, each: number): Promise<number[]> {
  const times: number[] = []
  for (let n = 0; n < each; n++) {
    const started = performance.now()
    const messageId = generateMessageIDV2(socket.user?.id)
    const acknowledged = new Promise((resolve) => socket.ws.once('CB:ack,class:message', resolve))
    await socket.sendMessage(chat, { text: `message ${n}` }, { messageId })
    await acknowledged
    times.push(performance.now() - started)
  }
  return times
}

const desk = {
  cpuMs: ownCpuMs,
  start: async (files: string[]) => {
    for (const file of files) sockets.push(await connectBare(file))
  },
  send: async ({ chats, each }: { chats: string[]; each: number }) =>
    (await Promise.all(sockets.map((socket, index) => sendAll(socket, chats[index] ?? '', each)))).flat(),
}

export type BareDesk = typeof desk

serveParent(desk)
