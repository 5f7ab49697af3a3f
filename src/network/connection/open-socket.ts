// Opens a socket of the library and contains its faults: an error in one of its listeners is reported, not thrown.

import type { Writable } from 'node:stream'
import { ignoreRejection } from '../../lib/ignore.ts'
import { makeWASocket } from '../library/library.ts'
import type { UserFacingSocketConfig, WASocket } from '../library/library.ts'
import { announceWhatIsHeard } from './heard-events.ts'

type Listener = (...args: unknown[]) => unknown

type Hooks = {
  /** Whether the library gets this event. */
  isHeard: (event: string) => boolean
  /** Whether the library does not get this stanza, although it hears the event. */
  isWithheld: (event: string, ...args: unknown[]) => boolean
  /** A listener of this event has failed. */
  onFault: (event: string, fault: unknown) => void
  /**
   * Returns a promise if the library's listeners must wait. If the promise rejects, or resolves to true because the event was handled,
   * they never get the event.
   */
  beforeListeners: (event: string, ...args: unknown[]) => Promise<boolean> | undefined
}

/** The library's listeners are asynchronous functions whose promises the library does not await. */
export function openSocket(config: UserFacingSocketConfig, hooks: Hooks): WASocket {
  const socket = makeWASocket(config)
  const { ws } = socket
  for (const event of ws.eventNames()) {
    const listeners = ws.listeners(event) as Listener[]
    ws.removeAllListeners(event)
    if (!hooks.isHeard(String(event))) continue
    for (const listener of listeners) ws.on(event, contained(String(event), listener, hooks))
  }
  announceWhatIsHeard(ws)
  sendTogether(socket)
  return socket
}

function contained(event: string, listener: Listener, { onFault, isWithheld, beforeListeners }: Hooks): Listener {
  const run: Listener = (...args) => {
    if (isWithheld(event, ...args)) return undefined
    const ready = beforeListeners(event, ...args)
    return ready ? ready.then((isHandled) => (isHandled ? undefined : listener(...args))) : listener(...args)
  }
  return (...args) => {
    try {
      const result = run(...args)
      if (result instanceof Promise) {
        result.catch((fault: unknown) => {
          onFault(event, fault)
        })
      }
    } catch (fault) {
      onFault(event, fault)
    }
  }
}

type RawSocket = {
  send: (...frame: unknown[]) => void
  terminate(): void
  /** Null before the connection is open. */
  _socket: Writable | null
}

function rawSocketOf({ ws }: WASocket): RawSocket | null {
  return (ws as unknown as { socket: RawSocket | null }).socket
}

/** Frames that are sent in the same turn leave with one write: the confirmations of messages that were stored together. */
export function sendTogether(socket: WASocket): void {
  const raw = rawSocketOf(socket)
  if (!raw) return
  const send = raw.send.bind(raw)
  raw.send = (...frame) => {
    const { _socket: connection } = raw
    if (connection?.writableCorked === 0) {
      connection.cork()
      process.nextTick(uncork, connection)
    }
    send(...frame)
  }
}

function uncork(connection: Writable): void {
  connection.uncork()
}

/** Sends no frame before `after` has resolved. If `after` rejects, no frame is sent any more. */
export function delayFrames(socket: WASocket, after: Promise<unknown>): void {
  const raw = rawSocketOf(socket)
  if (!raw) return
  const send = raw.send.bind(raw)
  const delayed: unknown[][] = []
  raw.send = (...frame) => void delayed.push(frame)
  after.then(() => {
    raw.send = send
    for (const frame of delayed) send(...frame)
  }, ignoreRejection)
}

/** Closes the TCP connection at once. The library would wait for a server that may be gone. */
export function terminate(socket: WASocket): void {
  rawSocketOf(socket)?.terminate()
}

/** Fails all queries that wait for an answer, and all later ones. The library would let them wait for their deadline. */
export function failQueries({ ws }: WASocket): void {
  const error = new Error('the connection has ended')
  ws.emit('error', error)
  const failAtOnce = (event: string, listener: Listener) => {
    if (event === 'error') queueMicrotask(() => listener(error))
    return ws
  }
  Object.assign(ws, { on: failAtOnce })
}
