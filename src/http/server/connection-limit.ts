// Bounds the open connections of the HTTP server and what one of them may ask at once.
//
// Above the limit, a new connection displaces the one that has been without a complete request for longest. Refusing the new
// one instead would shut out health checks and callbacks for as long as an attacker keeps slow connections open. When all
// connections are worked on, the new one is closed. A few connections above the limit are kept for GET: a request that is
// held while the service starts would otherwise keep health checks out.
//
// A client that sends a request before it has the answer to the one before is cut off. Otherwise one connection could fill
// the memory with requests that wait.

import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** How long a client may read nothing of its answer. */
const readWithinMs = 10_000
/** Above the limit, for GET only. */
export const reservedConnections = 10

type Exchange = { request: IncomingMessage; response: ServerResponse }

export function limitConnections(server: Server, max: number): void {
  /** The last request of each connection; the connection of the newest request is last. */
  const open = new Map<Socket, Exchange | undefined>()
  const close = (socket: Socket) => {
    // At once: the event of the closed connection comes after the next connections of a burst.
    open.delete(socket)
    socket.destroy()
  }
  server.on('connection', (socket: Socket) => {
    open.set(socket, undefined)
    socket.once('close', () => {
      open.delete(socket)
    })
    if (open.size <= max) return
    const idle = findIdle(open)
    if (idle !== undefined && idle !== socket) close(idle)
    else if (open.size > max + reservedConnections) close(socket)
  })
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request
    const before = open.get(socket)
    if (!open.delete(socket)) return
    open.set(socket, { request, response })
    const isEarly = before !== undefined && !before.response.writableEnded
    if (isEarly) close(socket)
    else if (open.size > max && request.method !== 'GET') close(findIdle(open) ?? socket)
  })
}

/** A client that does not read its answer would otherwise hold its connection for ever. */
export function limitReading(response: ServerResponse): void {
  response.setTimeout(readWithinMs)
}

/** The connection that is longest without a request that we work on. */
function findIdle(open: ReadonlyMap<Socket, Exchange | undefined>): Socket | undefined {
  for (const [socket, exchange] of open) if (!isWorkedOn(exchange)) return socket
  return undefined
}

/** Until the whole answer has left: an answer that has ended may still be on its way. */
function isWorkedOn(exchange: Exchange | undefined): boolean {
  return exchange !== undefined && exchange.request.complete && !exchange.response.writableFinished
}
