// The client library alone: counts the messages it hands over.

import { connectBare } from './bare-account.ts'
import { serveParent } from './child.ts'
import { ownCpuMs } from './own-use.ts'

let received = 0

const desk = {
  cpuMs: ownCpuMs,
  received: () => received,
  start: async (files: string[]) => {
    for (const file of files) {
      const { ev } = await connectBare(file)
      ev.on('messages.upsert', ({ messages }) => {
        received += messages.filter(({ message }) => message?.conversation ?? message?.extendedTextMessage).length
      })
    }
  },
}

export type BareDesk = typeof desk

serveParent(desk)
