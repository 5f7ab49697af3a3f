// A socket of the library whose listeners cannot hurt anybody: what they throw is reported, not raised.

import { makeWASocket } from '../library/library.ts'
import type { UserFacingSocketConfig, WASocket } from '../library/library.ts'

type Listener = (...args: unknown[]) => unknown
/** Told which event failed to be handled, and why. */
export type OnListenerFault = (event: string, fault: unknown) => void

/** A promise when listeners may hear of an event only after something; if that never comes, they never do. */
export type Gate = (event: string, ...args: unknown[]) => Promise<void> | undefined

/** The library's listeners are asynchronous functions that nobody awaits. */
export function openSocket(config: UserFacingSocketConfig, onFault: OnListenerFault, gate: Gate): WASocket {
  const socket = makeWASocket(config)
  const { ws } = socket
  for (const event of ws.eventNames()) {
    const listeners = ws.listeners(event) as Listener[]
    ws.removeAllListeners(event)
    for (const listener of listeners)
      ws.on(event, contain(String(event), gated(String(event), listener, gate), onFault))
  }
  return socket
}

function gated(event: string, listener: Listener, gate: Gate): Listener {
  return (...args) => {
    const opening = gate(event, ...args)
    return opening ? opening.then(() => listener(...args)) : listener(...args)
  }
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

type RawSocket = { send: (...frame: unknown[]) => void; terminate(): void }

function rawSocketOf({ ws }: WASocket): RawSocket | null {
  return (ws as unknown as { socket: RawSocket | null }).socket
}

/** Nothing is said to the server before this is stored; if it never is, nothing ever is. */
export function delayFrames(socket: WASocket, stored: Promise<unknown>): void {
  const raw = rawSocketOf(socket)
  if (!raw) return
  const send = raw.send.bind(raw)
  const held: unknown[][] = []
  raw.send = (...frame) => void held.push(frame)
  stored.then(
    () => {
      raw.send = send
      for (const frame of held) send(...frame)
    },
    () => undefined,
  )
}

/** The TCP connection goes at once; the library itself would wait for a peer that may be gone. */
export function terminate(socket: WASocket): void {
  rawSocketOf(socket)?.terminate()
}

/** Fails whatever still waits for an answer, or asks from now on: the library itself would wait for nothing. */
export function failQueries({ ws }: WASocket): void {
  const error = new Error('the connection has ended')
  ws.emit('error', error)
  const failAtOnce = (event: string, listener: Listener) => {
    if (event === 'error') queueMicrotask(() => listener(error))
    return ws
  }
  Object.assign(ws, { on: failAtOnce })
}
