// Authentication: every route needs the token or the cookie of a dashboard session, unless its own declaration says that it
// is public. A service without a token serves all but the pages of strangers.

import type { FastifyReply, FastifyRequest } from 'fastify'
import type { TSchema } from 'typebox'
import type { Caller } from '../../core/audit.ts'
import { BridgeError } from '../../core/errors.ts'
import type { HttpApp } from '../http-app.ts'
import { readBearer } from '../session/api-token.ts'
import type { DashboardSession, DashboardSessions } from '../session/dashboard-sessions.ts'
import { findStranger } from '../session/open-service.ts'
import { findSessionRefusal } from '../session/same-origin.ts'
import { readSessionCookies, sessionCookieName, writeSessionCookie } from '../session/session-cookie.ts'
import type { Access } from '../session/session-routes.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Who asks, for the audit log. */
    actor: Caller
    /** Null unless the cookie is what lets the request in. */
    dashboardSession: DashboardSession | null
    /** The route is also served to callers without a token and without a cookie, and this is one. */
    isAnonymous: boolean
  }
  interface FastifyContextConfig {
    /** Served without a token. The route declares it, so that no spelling of a path can look exempt. */
    public?: true
    /** Also served without a token and without a cookie. A wrong one is refused. */
    anonymous?: true
    /** Never refused for load or rate: a refusal would fail an agent's message or hide the state from the operator. */
    unlimited?: true
    /** The handler gets the bytes as they came: it checks a signature over them. */
    rawBody?: true
    /** The body is a form with files, and has these fields. The handler gets the bytes as they came. */
    form?: TSchema
    /** Only the route knows which instance a request is for. It hands the request to the owner itself. */
    handsOver?: true
  }
}

type Authenticate = (request: FastifyRequest, reply: FastifyReply) => void

export function createAuthentication(app: HttpApp, access: Access, publicUrl: string | null): Authenticate {
  app.decorateRequest('actor', 'api')
  app.decorateRequest('dashboardSession', null)
  app.decorateRequest('isAnonymous', false)
  if (!access) return refuseStrangers(publicUrl)
  const { token, sessions } = access
  return (request, reply) => {
    const { config } = request.routeOptions
    if (config.public) return
    const given = readBearer(request.headers.authorization)
    request.isAnonymous = config.anonymous === true && given === undefined && !hasSessionCookie(request)
    if (request.isAnonymous) return
    if (given === undefined) admitSession(sessions, request, reply)
    else if (!token.matches(given)) throw unauthorized(sendToken)
  }
}

function refuseStrangers(publicUrl: string | null): Authenticate {
  return (request) => {
    const refusal = request.routeOptions.config.public ? null : findStranger(request, publicUrl)
    if (refusal !== null) throw unauthorized(refusal)
  }
}

const sendToken = 'send the header "Authorization: Bearer <SERVICE_API_TOKEN>"'

function admitSession(sessions: DashboardSessions, request: FastifyRequest, reply: FastifyReply): void {
  const session = findSession(sessions, request)
  const refusal = findSessionRefusal(request)
  if (refusal !== null) throw unauthorized(`the session counts only for requests of the dashboard: ${refusal}`)
  const renewed = sessions.renew(session)
  request.actor = 'dashboard'
  request.dashboardSession = renewed ?? session
  // What a person sees while signed in must not come back from the memory of the browser afterwards.
  void reply.header('cache-control', 'no-store')
  if (!renewed) return
  void reply.header('set-cookie', writeSessionCookie(sessions.format(renewed), request.protocol === 'https'))
}

function hasSessionCookie({ headers }: FastifyRequest): boolean {
  return readSessionCookies(headers.cookie).length > 0
}

function findSession(sessions: DashboardSessions, { headers, routeOptions, url }: FastifyRequest): DashboardSession {
  const isApi = (routeOptions.url ?? url).startsWith('/api/')
  const [value, ...others] = isApi ? readSessionCookies(headers.cookie) : []
  if (value === undefined) throw unauthorized(sendToken)
  if (others.length > 0) {
    throw unauthorized(
      `there is more than one cookie ${sessionCookieName}: remove the cookies of this site and sign in`,
    )
  }
  const session = sessions.parse(value)
  if (!session) throw unauthorized('the session has ended: sign in again')
  return session
}

function unauthorized(sentence: string): BridgeError {
  return new BridgeError('SERVICE_UNAUTHORIZED', sentence)
}
