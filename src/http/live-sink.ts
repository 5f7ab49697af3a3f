// A stream of events as the body of an answer.

import type { ServerResponse } from 'node:http'
import type { LiveSink } from '../core/live.ts'

/** How long a listener may take to read the end of its stream. */
const lingerMs = 1000

export function sinkOf(raw: ServerResponse): LiveSink {
  const { socket } = raw
  // A connection that breaks is noticed by its end.
  raw.on('error', () => undefined)
  return {
    write: (text) => void raw.write(text),
    get waiting() {
      return raw.writableLength
    },
    end(text) {
      raw.end(text, () => {
        socket?.destroySoon()
      })
      socket?.setTimeout(lingerMs, () => {
        socket.destroy()
      })
    },
  }
}
