// Tells whether the caller of a public route has the token or a dashboard session. Such a route answers everybody, so a wrong
// token or an ended session is no error here: the caller counts as a stranger.

import type { FastifyRequest } from 'fastify'
import type { HttpApp } from '../http-app.ts'
import { readBearer } from './api-token.ts'
import { findStranger } from './open-service.ts'
import { findSessionRefusal } from './same-origin.ts'
import { readSessionCookies } from './session-cookie.ts'
import type { Access } from './session-routes.ts'

/** Without a token every route is open, but not to the pages of other sites: every other caller is known. */
export function createKnownCallers(
  app: HttpApp,
  access: Access,
  publicUrl: string | null,
): (request: FastifyRequest) => Promise<boolean> {
  if (!access) return (request) => Promise.resolve(findStranger(request, publicUrl) === null)
  // A public route may have no rate limit. Tokens could be guessed there, so requests with a token have the limit of others.
  const count = app.hasDecorator('createRateLimit') ? app.createRateLimit({ allowList: [] }) : undefined
  return async (request) => {
    const { authorization, cookie } = request.headers
    if (authorization === undefined && cookie === undefined) return false
    const counted = await count?.(request)
    if (counted && !counted.isAllowed && counted.isExceeded) return false
    return isKnown(access, request)
  }
}

function isKnown({ token, sessions }: NonNullable<Access>, request: FastifyRequest): boolean {
  const given = readBearer(request.headers.authorization)
  if (given !== undefined) return token.matches(given)
  const [value, ...others] = readSessionCookies(request.headers.cookie)
  if (value === undefined || others.length > 0) return false
  return sessions.parse(value) !== undefined && findSessionRefusal(request) === null
}
