// Bounds the open connections of the HTTP server: above the limit, a new connection displaces the one that has been
// without a complete request for longest. Refusing the new one instead would shut out health checks and callbacks for as
// long as an attacker keeps slow connections open.

import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** How long a client may read nothing of its answer. */
const readWithinMs = 10_000

type Exchange = { request: IncomingMessage; response: ServerResponse }

export function limitConnections(server: Server, max: number): void {
  /** The last request of each connection; the connection of the newest request is last. */
  const open = new Map<Socket, Exchange | undefined>()
  server.on('connection', (socket: Socket) => {
    if (open.size >= max) findIdle(open)?.destroy()
    open.set(socket, undefined)
    socket.once('close', () => {
      open.delete(socket)
    })
  })
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request
    if (!open.delete(socket)) return
    open.set(socket, { request, response })
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

function isWorkedOn(exchange: Exchange | undefined): boolean {
  return exchange !== undefined && exchange.request.complete && !exchange.response.writableEnded
}
