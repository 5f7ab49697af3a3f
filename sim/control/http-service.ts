// A small HTTP + JSON service on loopback: a table of routes, one error shape.
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { IqError } from '../network/server/iq-router.ts'
import { ControlError, Fields } from './fields.ts'

export type Call = { params: Record<string, string>; query: URLSearchParams; body: Fields }
/** The value becomes the JSON of the answer; a Buffer is sent as it is. */
export type Handler = (call: Call) => unknown
/** `METHOD /path/:name` */
export type RouteTable = Record<string, Handler>
type Route = { method: string; parts: string[]; handler: Handler }

const MAX_BODY = 64 * 1024 * 1024

export class HttpService {
  readonly #routes: Route[]
  readonly #server: Server

  constructor(table: RouteTable) {
    this.#routes = Object.entries(table).map(([key, handler]) => {
      const [method = '', path = ''] = key.split(' ')
      return { method, parts: path.split('/').slice(1), handler }
    })
    this.#server = createServer((request, response) => {
      this.#serve(request, response).catch((error: unknown) => {
        answerError(response, error)
      })
    })
  }

  async listen(port: number): Promise<string> {
    this.#server.listen(port, '127.0.0.1')
    await once(this.#server, 'listening')
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#server.listening) return
    const closed = once(this.#server, 'close')
    this.#server.close()
    this.#server.closeAllConnections()
    await closed
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://localhost')
    const body = new Fields(await readJson(request))
    const { handler, params } = this.#match(request.method ?? 'GET', url.pathname)
    const value = await handler({ params, query: url.searchParams, body })
    if (Buffer.isBuffer(value)) {
      response.writeHead(200, { 'content-type': 'application/octet-stream' }).end(value)
      return
    }
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value ?? {}))
  }

  #match(method: string, path: string): { handler: Handler; params: Record<string, string> } {
    const asked = path.split('/').slice(1).map(decodePart)
    for (const route of this.#routes) {
      if (route.method !== method || route.parts.length !== asked.length) continue
      const params: Record<string, string> = {}
      const fits = route.parts.every((part, index) => {
        const value = asked[index] ?? ''
        if (part.startsWith(':')) params[part.slice(1)] = value
        return part.startsWith(':') || part === value
      })
      if (fits) return { handler: route.handler, params }
    }
    throw new ControlError(404, `there is no ${method} ${path}`)
  }
}

function decodePart(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch (error) {
    throw new ControlError(400, `the path cannot be read: ${String(error)}`)
  }
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request) {
    size += (chunk as Buffer).length
    if (size > MAX_BODY) throw new ControlError(413, 'the body is too large')
    chunks.push(chunk as Buffer)
  }
  const text = Buffer.concat(chunks).toString()
  if (text === '') return {}
  try {
    return JSON.parse(text) as unknown
  } catch (error) {
    throw new ControlError(400, `the body is not JSON: ${String(error)}`)
  }
}

/** What the network refuses is the caller's to know: 409 unless it said something more precise. */
function statusOf(error: unknown): number {
  if (error instanceof ControlError) return error.status
  if (error instanceof IqError) return error.code
  return error instanceof TypeError || error instanceof RangeError ? 500 : 409
}

function answerError(response: ServerResponse, error: unknown): void {
  const status = statusOf(error)
  const message = error instanceof Error ? error.message : String(error)
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ error: message }))
}
