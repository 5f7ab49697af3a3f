// Answers 405 when a path exists, but not with this method.

import { METHODS } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { BridgeError } from '../../core/errors.ts'
import { getOrCreate } from '../../lib/keyed.ts'

const usual = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']
// Node itself answers CONNECT; the others are refused without reading a body.
const unusual = METHODS.filter((method) => method !== 'CONNECT' && !usual.includes(method))

/** Must be called before the first route. Returns a function to call after the last route. */
export function watchMethods(app: FastifyInstance): () => void {
  for (const method of unusual) app.addHttpMethod(method, { overrideExisting: true })
  const declared = new Map<string, Set<string>>()
  app.addHook('onRoute', ({ url, method }) => {
    const known = getOrCreate(declared, url, () => new Set())
    for (const each of [method].flat()) known.add(each)
  })
  return () => {
    for (const [url, known] of [...declared]) refuseOthers(app, url, known)
  }
}

function refuseOthers(app: FastifyInstance, url: string, known: ReadonlySet<string>): void {
  const others = [...usual, ...unusual].filter((method) => !known.has(method))
  const allow = [...known].sort().join(', ')
  if (others.length === 0) return
  app.route({
    method: others,
    url,
    schema: { hide: true },
    handler(_request, reply) {
      void reply.header('allow', allow)
      throw new BridgeError('SERVICE_METHOD_NOT_ALLOWED', `this path takes ${allow}`)
    },
  })
}
