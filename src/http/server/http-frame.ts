// The HTTP server without its routes: limits first, then authentication, then the body.

import rateLimit from '@fastify/rate-limit'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import { fastify, LogController } from 'fastify'
import type { FastifyBaseLogger, FastifyRequest } from 'fastify'
import { BridgeError } from '../../core/errors.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import { BodyMemory } from '../body-memory.ts'
import { addForwarding } from '../forwarding/add-forwarding.ts'
import type { ForwardingDeps } from '../forwarding/passage.ts'
import { SecondLook } from '../forwarding/second-look.ts'
import type { HttpApp } from '../http-app.ts'
import { addBodyParser, forgetContentType } from '../json-body.ts'
import { largestBody } from '../routes/messages.ts'
import type { Access } from '../session/session-routes.ts'
import { createAuthentication } from './auth.ts'
import { answerClientError } from './client-error.ts'
import { limitConnections, limitReading } from './connection-limit.ts'
import { entryPaths } from './entry-pages.ts'
import { replyWithError, replyWithRouterError } from './error-reply.ts'
import { refuseOddTexts } from './odd-texts.ts'
import { refuseOnOverload } from './overload.ts'
import { addRequestContext, requestIdOf } from './request-context.ts'
import { compilersFactory } from './schema-compilers.ts'
import { addSecurityHeaders } from './security-headers.ts'
import type { StartGate } from './start-gate.ts'

export type ServerSettings = {
  apiToken: string
  publicUrl: string | null
  bodyLimit: number
  /** Open connections at once. */
  maxConnections: number
  /** Requests per minute and client address; 0 is no limit. */
  rateLimit: number
  trustProxy: boolean
}

export type FrameDeps = {
  settings: ServerSettings
  clock: Clock
  log: Log
  /** Until the service serves, only health, metrics and static files answer at once. */
  gate: StartGate
  access: Access
  /** Null when this process runs alone. */
  forwarding: ForwardingDeps | null
}

export async function createFrame(deps: FrameDeps): Promise<HttpApp> {
  const { settings } = deps
  const loggerInstance: FastifyBaseLogger = deps.log
  const app = fastify({
    loggerInstance,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'request_id' }),
    bodyLimit: settings.bodyLimit,
    // One hop: the entry of the proxy in front of us. The entries before it come from the client and prove nothing.
    trustProxy: settings.trustProxy && ((_address: string, hop: number) => hop === 0),
    genReqId: requestIdOf,
    routerOptions: { maxParamLength: 512 },
    requestTimeout: 10_000,
    http: { headersTimeout: 8000, connectionsCheckingInterval: 1000 },
    clientErrorHandler: answerClientError,
    frameworkErrors: replyWithRouterError,
    return503OnClosing: false,
    // No coercion: a wrong type is an error. Verbose for readable messages.
    ajv: { customOptions: { coerceTypes: false, removeAdditional: false, verbose: true } },
    schemaController: { compilersFactory },
  }).withTypeProvider<TypeBoxTypeProvider>()
  const secondLook = deps.forwarding && new SecondLook(deps.forwarding)
  app.setErrorHandler((error: Error, request, reply) => {
    if (secondLook) secondLook.answer(error, request, reply, replyWithError)
    else replyWithError(error, request, reply)
  })
  addRequestContext(app)
  await addProtection(app, deps)
  addBodyParser(app, ({ raw }, body) => {
    deps.forwarding?.forwarded.checkBody(raw, body)
  })
  refuseOddTexts(app)
  return app
}

/** Callbacks need no token, so their bodies take no room from requests that have one. */
export function newBodyMemory({ settings, clock }: Pick<FrameDeps, 'settings' | 'clock'>): BodyMemory {
  return new BodyMemory({ clock, largestBody: largestBody(settings.bodyLimit) })
}

async function addProtection(app: HttpApp, deps: FrameDeps): Promise<void> {
  const { settings, gate, access, forwarding } = deps
  const isForwarded = ({ raw }: FastifyRequest) => forwarding?.forwarded.find(raw) !== undefined
  limitConnections(app.server, settings.maxConnections)
  app.addHook('onSend', (_request, reply, payload, done) => {
    limitReading(reply.raw)
    done(null, payload)
  })
  addSecurityHeaders(app, isForwarded)
  refuseOnOverload(app, isUnlimited)
  if (settings.rateLimit > 0) {
    await app.register(rateLimit, {
      max: settings.rateLimit,
      timeWindow: 60_000,
      // The node that received a forwarded request has counted it.
      allowList: (request: FastifyRequest) => isUnlimited(request) || isForwarded(request),
      errorResponseBuilder: () =>
        new BridgeError('SERVICE_RATE_LIMITED', `more than ${settings.rateLimit} requests a minute from this address`),
    })
    // The plugin limits routes only; unknown paths must be limited too, or tokens could be guessed there.
    const limit = app.rateLimit()
    app.addHook('onRequest', async (request, reply) => {
      if (request.is404) await limit.call(app, request, reply)
    })
  }
  const authenticate = createAuthentication(app, access, settings.publicUrl)
  // After the onRequest hooks, so that guessing tokens counts against the rate limit.
  // The body is read after the gate: of a request that is held, memory keeps what Node has read ahead, 64 KB at most.
  app.decorateRequest('heldMs', 0)
  app.addHook('preParsing', (request, reply, payload, done) => {
    authenticate(request, reply)
    const pass = () => {
      done(null, payload)
    }
    if (gate.isOpen || isServedInStandby(request)) pass()
    else gate.pass(request, reply).then(pass, done)
  })
  if (forwarding) addForwarding(app, forwarding, () => newBodyMemory(deps))
  const bodies = newBodyMemory(deps)
  app.addHook('preParsing', (request, reply, payload, done) => {
    forgetContentType(request)
    // The webhook waits for room instead, after it has looked at the headers.
    if (!request.routeOptions.config.rawBody) bodies.admit(request, reply)
    done(null, payload)
  })
  app.addHook('preClose', (done) => {
    gate.close()
    done()
  })
}

function isUnlimited(request: FastifyRequest): boolean {
  return request.routeOptions.config.unlimited === true
}

function isServedInStandby(request: FastifyRequest): boolean {
  const isProbe = isUnlimited(request) && request.method !== 'POST'
  const { url = '' } = request.routeOptions
  return isProbe || url.startsWith('/static/') || entryPaths.includes(url)
}
