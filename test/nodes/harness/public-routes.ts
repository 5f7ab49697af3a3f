// Routes of a public server for tests of forwarding. Their paths are those of the real API; the answers name the node.

import { Readable } from 'node:stream'
import { Type } from 'typebox'
import { BridgeError } from '../../../src/core/errors.ts'
import { NotHeldError } from '../../../src/core/nodes/hold.ts'
import type { HttpApp } from '../../../src/http/http-app.ts'
import { readFormFile } from '../../../src/http/form-file.ts'
import { InstanceParams } from '../../../src/http/schemas.ts'
import { waitUntil } from '../../harness/wait-until.ts'

/** What a node has seen of the requests that its own routes served. */
export type SeenRequest = {
  node: string
  route: string
  ip: string
  headers: Record<string, unknown>
  body: unknown
  heldMs: number
  hungUp: boolean
}

export function addPublicRoutes(app: HttpApp, node: string, seen: SeenRequest[]): void {
  const schema = { params: InstanceParams }
  app.addHook('preHandler', (request, reply, done) => {
    const { headers, body, ip, heldMs } = request
    const route = request.routeOptions.url ?? ''
    const entry = { node, route, ip, headers: { ...headers }, body, heldMs, hungUp: false }
    if (!request.is404) seen.push(entry)
    reply.raw.once('close', () => (entry.hungUp = !reply.raw.writableFinished))
    done()
  })
  app.get('/api/instances/:name', { schema }, ({ params }) => ({ name: params.name, text: 'Grüße 🎉' }))
  app.get('/api/instances/:name/state', { schema }, () => ({ node }))
  app.delete('/api/instances/:name', { schema }, (_request, reply) => reply.code(204).send())
  app.patch(
    '/api/instances/:name',
    { schema: { ...schema, body: Type.Object({ text: Type.String() }, { additionalProperties: false }) } },
    ({ body }) => body,
  )
  app.get('/api/instances/:name/qr', { schema }, (_request, reply) =>
    reply
      .type('image/png')
      .header('cache-control', 'no-store')
      .send(Buffer.of(0, 255, 13, 10, 0)),
  )
  app.post('/api/instances/:name/restart', { schema }, (_request, reply) => {
    void reply.header('set-cookie', ['a=1; Path=/', 'b=2; Path=/'])
    throw new BridgeError('SERVICE_NOT_READY', 'not ready', { retryAfterSeconds: 7 })
  })
  app.post(
    '/api/instances/:name/groups/:jid/picture',
    { bodyLimit: 8 * 1024 ** 2, config: { form: Type.Object({ picture: Type.String() }) }, schema },
    ({ body, headers }) => ({ bytes: readFormFile(body, headers['content-type'] ?? '', 'picture').length }),
  )
  app.get('/api/instances/:name/groups', { schema }, (_request, reply) =>
    reply.type('application/octet-stream').send(Readable.from(pieces())),
  )
  // The instance has left before the route looks for it, or before it writes.
  app.get('/api/instances/:name/ban-risk', { schema }, () => {
    throw new BridgeError('SERVICE_INSTANCE_NOT_FOUND', 'there is no such instance')
  })
  app.post('/api/instances/:name/logout', { schema }, ({ params }) => {
    throw new NotHeldError(params.name)
  })
  // They never answer: the client or the node that asked hangs up.
  app.get('/api/instances/:name/wait-ready', { schema }, () => new Promise(() => undefined))
  for (const what of ['import', 'import-all']) {
    app.post(`/api/instances/:name/history/${what}`, { schema }, () => new Promise(() => undefined))
  }
  app.post(
    '/api/instances/:name/webhook',
    {
      bodyLimit: 5 * 1024 ** 2,
      config: { public: true, unlimited: true, rawBody: true },
      preParsing: ({ headers }, _reply, payload, done) => {
        const isGone = headers['x-gone'] === node
        done(isGone ? new BridgeError('SERVICE_INSTANCE_NOT_FOUND', 'there is no such instance') : null, payload)
      },
    },
    async ({ body, headers }, reply) => {
      const workMs = Number(headers['x-works'] ?? 0)
      await waitUntil('the work has taken so long', () => reply.elapsedTime >= workMs)
      if (headers['x-leaves'] === node) throw new NotHeldError('shop')
      return reply.code(202).send({ status: 'queued', bytes: (body as Buffer).length })
    },
  )
}

export const pieceBytes = 64 * 1024
export const pieceCount = 64

function* pieces(): Generator<Buffer> {
  for (let index = 0; index < pieceCount; index++) yield Buffer.alloc(pieceBytes, index)
}
