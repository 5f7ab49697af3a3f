// A socket of the library whose listeners cannot hurt anybody: what they throw is reported, not raised.

import { makeWASocket } from './library.ts'
import type { UserFacingSocketConfig, WASocket } from './library.ts'

type Listener = (...args: unknown[]) => unknown
/** Told which event failed to be handled, and why. */
export type OnListenerFault = (event: string, fault: unknown) => void

/** The library's listeners are asynchronous functions that nobody awaits. */
export function openSocket(config: UserFacingSocketConfig, onFault: OnListenerFault): WASocket {
  const socket = makeWASocket(config)
  const { ws } = socket
  for (const event of ws.eventNames()) {
    const listeners = ws.listeners(event) as Listener[]
    ws.removeAllListeners(event)
    for (const listener of listeners) ws.on(event, contain(String(event), listener, onFault))
  }
  return socket
}

function contain(event: string, listener: Listener, onFault: OnListenerFault): Listener {
  return (...args) => {
    try {
      const outcome = listener(...args)
      if (outcome instanceof Promise) {
        outcome.catch((fault: unknown) => {
          onFault(event, fault)
        })
      }
    } catch (fault) {
      onFault(event, fault)
    }
  }
}

/** The TCP connection goes at once; the library itself would wait for a peer that may be gone. */
export function terminate({ ws }: WASocket): void {
  const { socket } = ws as unknown as { socket: { terminate(): void } | null }
  socket?.terminate()
}

/** Fails whatever still waits for an answer: the library takes their listeners away when it closes. */
export function failQueries({ ws }: WASocket): void {
  ws.emit('error', new Error('the connection has ended'))
}
