// Builds the HTTP application: parsers, checks of requests and answers, faults, authentication and all routes.

import type { FastifyRequest } from 'fastify'
import fastify from 'fastify'
import type { TSchema } from 'typebox'
import { throttled } from '../desk/rails-error.ts'
import { asOlderJson } from '../json/older-json.ts'
import { misfit, withoutUnknown } from '../schemas/schema-check.ts'
import { authenticate } from './authenticate.ts'
import { addBodyParsers } from './body-parsers.ts'
import type { FaultGate } from './fault-gate.ts'
import type { HttpApp } from './http-app.ts'
import { MinuteLimit } from './minute-limit.ts'
import { hideMissingRoutes } from './missing-routes.ts'
import type { Office } from './office.ts'
import { addErrorReplies } from './rails-reply.ts'
import { addAccountRoutes } from './routes/account.ts'
import { addAgentBotRoutes } from './routes/agent-bots.ts'
import { addContactInboxRoutes } from './routes/contact-inboxes.ts'
import { addContactListRoutes } from './routes/contact-lists.ts'
import { addContactRoutes } from './routes/contacts.ts'
import { addConversationActionRoutes } from './routes/conversation-actions.ts'
import { addAssignmentRoutes } from './routes/conversation-assignment.ts'
import { addConversationListRoutes } from './routes/conversation-lists.ts'
import { addConversationRoutes } from './routes/conversations.ts'
import { addFileRoutes } from './routes/files.ts'
import { addInboxRoutes } from './routes/inboxes.ts'
import { addLabelRoutes } from './routes/labels.ts'
import { addMessageRoutes } from './routes/messages.ts'
import { addProfileRoute } from './routes/profile.ts'
import { addPublicContactRoutes } from './routes/public-contacts.ts'
import { addPublicConversationRoutes } from './routes/public-conversations.ts'
import { addUploadRoute } from './routes/uploads.ts'
import { addViewRoutes } from './routes/view.ts'

/** One route with its schemas. A test compares them with the published description. */
export type RouteFacts = { method: string; url: string; body?: TSchema; querystring?: TSchema; answer?: TSchema }

export async function buildApp(office: Office, gate: FaultGate): Promise<{ app: HttpApp; routes: RouteFacts[] }> {
  const app: HttpApp = fastify({
    bodyLimit: office.desk.settings.maxBodyBytes,
    // Source ids may be long. With the router's default limit they would get 404.
    routerOptions: { maxParamLength: 20_000, ignoreTrailingSlash: true },
  })
  const routes = recordRoutes(app)
  addBodyParsers(app, office)
  addErrorReplies(app, office)
  checkRequests(app, office)
  checkAnswers(app, office)
  gate.guard(app)
  limitRequests(app, office)
  hideMissingRoutes(app, office)
  // The clock of the simulator counts, so that a client can compare the clocks.
  app.addHook('onSend', async (_, reply) => {
    void reply.header('date', new Date(office.desk.clock.now()).toUTCString())
    return Promise.resolve()
  })
  app.addHook('onResponse', async (request, reply) => {
    const { method, url: path } = request
    office.visits.add({ at: office.desk.clock.now(), method, path, status: reply.statusCode })
    office.watch.changed()
    return Promise.resolve()
  })
  await app.register(
    (scope: HttpApp, _, done) => {
      addAccountScope(scope, office)
      done()
    },
    { prefix: '/api/v1/accounts/:account_id' },
  )
  await app.register(
    (scope: HttpApp, _, done) => {
      refuseDots(scope)
      addPublicContactRoutes(scope, office)
      addPublicConversationRoutes(scope, office)
      done()
    },
    { prefix: '/public/api/v1/inboxes/:identifier' },
  )
  addProfileRoute(app, office)
  addFileRoutes(app, office)
  addViewRoutes(app)
  await app.ready()
  return { app, routes }
}

/** A dynamic segment of a Rails route ends at a dot, so a path with a dot gets 404. An encoded dot passes. */
function refuseDots(scope: HttpApp): void {
  scope.addHook('onRequest', (request, reply, done) => {
    if (request.url.split('?')[0]?.includes('.')) reply.callNotFound()
    else done()
  })
}

function addAccountScope(scope: HttpApp, office: Office): void {
  scope.addHook('onRequest', async (request) => {
    authenticate(office, request)
    return Promise.resolve()
  })
  addContactListRoutes(scope, office)
  addContactRoutes(scope, office)
  addContactInboxRoutes(scope, office)
  addConversationListRoutes(scope, office)
  addConversationRoutes(scope, office)
  addConversationActionRoutes(scope, office)
  addAssignmentRoutes(scope, office)
  addLabelRoutes(scope, office)
  addMessageRoutes(scope, office)
  addInboxRoutes(scope, office)
  addAgentBotRoutes(scope, office)
  addUploadRoute(scope, office)
  addAccountRoutes(scope, office)
}

/** Refuses requests that do not fit their schema. It coerces no values. Without `isStrict` it drops unknown parameters. */
function checkRequests(app: HttpApp, { desk }: Office): void {
  // A request without a body has no parameters.
  app.addHook('preValidation', (request, _, done) => {
    if (request.routeOptions.schema?.body) request.body ??= {}
    done()
  })
  app.setValidatorCompiler<TSchema>(({ schema, httpPart = '' }) => (given: unknown) => {
    const value = desk.settings.isStrict ? given : withoutUnknown(schema, given)
    const reason = misfit(schema, value)
    return reason === undefined ? { value } : { error: new Error(`${httpPart} ${reason}`) }
  })
}

/** An answer that does not fit its schema is a bug of the simulator and must not look like an answer of Chatwoot. */
function checkAnswers(app: HttpApp, { desk }: Office): void {
  app.setSerializerCompiler<TSchema>(({ schema, method, url }) => (answer: unknown) => {
    if (answer === null) return ''
    const reason = misfit(schema, answer)
    if (reason === undefined) return JSON.stringify(asOlderJson(desk.features, answer))
    throw new Error(`the answer to ${method} ${url} does not fit its schema: ${reason}`)
  })
}

function limitRequests(app: HttpApp, { desk }: Office): void {
  const limit = new MinuteLimit(desk.clock)
  app.addHook('onRequest', async (request: FastifyRequest) => {
    const { requestsPerMinute } = desk.settings
    if (requestsPerMinute > 0 && !limit.admit(request.ip, requestsPerMinute)) throw throttled()
    return Promise.resolve()
  })
}

function recordRoutes(app: HttpApp): RouteFacts[] {
  const routes: RouteFacts[] = []
  app.addHook('onRoute', ({ method, url, schema = {} }) => {
    const answer = (schema.response as Record<number, TSchema> | undefined)?.[200]
    for (const each of [method].flat()) {
      if (each === 'HEAD') continue
      routes.push({
        method: each,
        url,
        ...(schema.body ? { body: schema.body } : {}),
        ...(schema.querystring ? { querystring: schema.querystring } : {}),
        ...(answer ? { answer } : {}),
      })
    }
  })
  return routes
}
