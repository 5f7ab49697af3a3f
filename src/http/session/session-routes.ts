// Signing in to the dashboard and out of it: the token becomes a cookie, which the scripts of the pages cannot read.

import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { Caller } from '../../core/audit.ts'
import { BridgeError } from '../../core/errors.ts'
import type { Clock } from '../../lib/clock.ts'
import type { HttpApp } from '../http-app.ts'
import { nullable, responses, Timestamp, toTimestamp } from '../schemas.ts'
import type { ApiToken } from './api-token.ts'
import { sessionMs } from './dashboard-sessions.ts'
import type { DashboardSession, DashboardSessions } from './dashboard-sessions.ts'
import { findOtherOrigin } from './same-origin.ts'
import { clearSessionCookie, writeSessionCookie } from './session-cookie.ts'
import { mostTries, SignInTries } from './sign-in-tries.ts'

/** Null: the service has no token, and every route is open. */
export type Access = { token: ApiToken; sessions: DashboardSessions } | null

const longestToken = 4096
/** Small bodies take no room from the bodies of callers who have the token. A character has six bytes when it is escaped. */
const longestBody = 8 * longestToken

const SignIn = Type.Object(
  { token: Type.String({ maxLength: longestToken, description: 'The value of SERVICE_API_TOKEN' }) },
  { title: 'SignIn' },
)
const SignedIn = Type.Object({ expires_at: Timestamp }, { title: 'SignedIn' })
const Session = Type.Object(
  {
    actor: nullable(
      Type.Unsafe<Caller>({
        type: 'string',
        enum: ['api', 'dashboard'],
        description:
          'dashboard: the request has the cookie. api: it has the token, or the service needs none. ' +
          'null: it has neither, so the caller must sign in',
      }),
    ),
    expires_at: nullable(Timestamp),
  },
  { title: 'Session' },
)
const SignedOut = Type.Object({ message: Type.String() }, { title: 'SignedOut' })

const about = (operationId: string, summary: string, description: string) => ({
  ...{ operationId, summary, description, tags: ['session'] },
})

export function addSessionRoutes(app: HttpApp, access: Access, clock: Clock): void {
  addSignInRoute(app, access, clock)
  app.get(
    '/api/session',
    {
      // The dashboard asks this first. A refusal would show as an error in the browser of every visitor.
      config: { anonymous: true },
      schema: {
        ...about(
          'getSession',
          'Who the caller is',
          'A caller without a token and without a cookie gets actor null; a wrong token and an ended session are refused. ' +
            'expires_at is null unless the request has the cookie of a session.',
        ),
        response: { 200: Session },
      },
    },
    ({ actor, isAnonymous, dashboardSession: session }) => ({
      actor: isAnonymous ? null : actor,
      expires_at: session && expiryOf(session),
    }),
  )
  app.delete(
    '/api/session',
    {
      schema: {
        ...about('signOut', 'Sign out of the dashboard', 'Ends the session of the request and removes its cookie.'),
        response: { 200: SignedOut },
      },
    },
    (request, reply) => {
      if (request.dashboardSession) access?.sessions.end(request.dashboardSession)
      // The session may just have been renewed: the browser must not store it after all.
      reply.removeHeader('set-cookie').header('set-cookie', clearSessionCookie(isSecure(request)))
      return { message: 'signed out' }
    },
  )
}

function addSignInRoute(app: HttpApp, access: Access, clock: Clock): void {
  const tries = new SignInTries(clock)
  app.post(
    '/api/session',
    {
      config: { public: true },
      bodyLimit: longestBody,
      schema: {
        ...about(
          'signIn',
          'Sign in to the dashboard',
          `Answers with the cookie of a session, which ends 12 hours after its last use. ${mostTries} wrong tokens a minute ` +
            'from one address are allowed.',
        ),
        body: SignIn,
        response: responses({ 200: SignedIn }, 401, 403, 409),
      },
    },
    (request, reply) => {
      if (!access) throw noToken()
      assertOwnPage(request)
      checkToken(access.token, tries, request.ip, request.body.token)
      const session = access.sessions.start()
      const cookie = writeSessionCookie(access.sessions.format(session), isSecure(request))
      void reply.header('set-cookie', cookie).header('cache-control', 'no-store')
      return { expires_at: expiryOf(session) }
    },
  )
}

/** Otherwise a person behind a wrongly set up proxy signs in, and every change is refused afterwards. */
function assertOwnPage(request: FastifyRequest): void {
  const refusal = findOtherOrigin(request)
  if (refusal !== null) throw new BridgeError('SERVICE_OTHER_ORIGIN', refusal)
}

/** After too many wrong tokens the right one is refused, too: the answer would tell a guesser that it is right. */
function checkToken(token: ApiToken, tries: SignInTries, address: string, given: string): void {
  const retryAfterSeconds = tries.waitOf(address)
  if (retryAfterSeconds > 0) {
    const sentence = `more than ${mostTries} wrong tokens a minute from this address: wait ${retryAfterSeconds} s`
    throw new BridgeError('SERVICE_RATE_LIMITED', sentence, { retryAfterSeconds })
  }
  if (token.matches(given)) return
  tries.fail(address)
  throw new BridgeError('SERVICE_UNAUTHORIZED', 'this is not the value of SERVICE_API_TOKEN')
}

function noToken(): BridgeError {
  const sentence =
    'SERVICE_API_TOKEN is empty, so there is nothing to sign in to: every route is open at an IP address, at localhost, at a ' +
    'name of the own network and at the host of SERVICE_PUBLIC_URL'
  return new BridgeError('SERVICE_NO_API_TOKEN', sentence)
}

function expiryOf({ issuedAt }: DashboardSession): string {
  return toTimestamp(issuedAt + sessionMs)
}

/** X-Forwarded-Proto counts only with SERVICE_TRUST_PROXY. */
function isSecure({ protocol }: Pick<FastifyRequest, 'protocol'>): boolean {
  return protocol === 'https'
}
