// Bearer authentication: every route needs the token unless its own declaration says it is public.

import { createHash, timingSafeEqual } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import type { TSchema } from 'typebox'
import { BridgeError } from '../../core/errors.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Served without a token. The route declares it, so that no spelling of a path can look exempt. */
    public?: true
    /** Never refused for load or rate: a refusal would fail an agent's message or hide the state from the operator. */
    unlimited?: true
    /** The handler gets the bytes as they came: it checks a signature over them. */
    rawBody?: true
    /** The body is a form with files, and has these fields. The handler gets the bytes as they came. */
    form?: TSchema
  }
}

export function createTokenCheck(token: string): (request: FastifyRequest) => void {
  if (token === '') return () => undefined
  const expected = digest(token)
  return (request) => {
    if (request.routeOptions.config.public) return
    const given = /^bearer +(.+)$/i.exec(request.headers.authorization ?? '')?.[1]
    // Digests have one length for every token: timingSafeEqual needs that, and the length of the token stays secret.
    if (given === undefined || !timingSafeEqual(digest(given), expected)) {
      throw new BridgeError('SERVICE_UNAUTHORIZED', 'send the header "Authorization: Bearer <SERVICE_API_TOKEN>"')
    }
  }
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
