// The OpenAPI 3.0.3 document and the page that shows it, both made from the route schemas.

import swagger from '@fastify/swagger'
import type { HttpApp } from '../http-app.ts'
import type { ApiDocument } from '../reference/api-document.ts'
import { renderReference } from '../reference/reference-page.ts'
import { errorResponses } from '../schemas.ts'
import { dashboardHeader } from '../session/same-origin.ts'
import { sessionCookieName } from '../session/session-cookie.ts'
import { commonStatuses } from './common-statuses.ts'

const cookieRule =
  'The dashboard: POST /api/session gives the cookie. It counts only for requests of our own pages; all but GET and HEAD ' +
  `need the headers Origin and ${dashboardHeader}: 1.`

const credentials = [{ bearer: [] }, { session: [] }]

export async function addOpenApi(app: HttpApp, version: string): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.0.3',
      info: {
        title: 'Causeway',
        version,
        description:
          'Bridges WhatsApp accounts and a Chatwoot helpdesk. Every error is an object with error and error_code.',
        license: { name: 'MIT' },
      },
      servers: [{ url: '/' }],
      tags: [
        { name: 'instances', description: 'Linked accounts' },
        { name: 'pairing', description: 'Linking an account and its connection' },
        { name: 'groups', description: 'Groups of an account and their members' },
        { name: 'history', description: 'Messages from before' },
        { name: 'jobs', description: 'Work that takes long: it can be watched and cancelled' },
        { name: 'messages', description: 'Callbacks of the helpdesk, and messages that were sent' },
        { name: 'tenants', description: 'Which helpdesk an owner tag talks to' },
        { name: 'observability', description: 'Usage, audit, outbox and ban risk' },
        { name: 'lifecycle', description: 'Deliveries of lifecycle events' },
        { name: 'session', description: 'Signing in to the dashboard' },
        { name: 'operations', description: 'Health, version, metrics' },
      ],
      components: {
        securitySchemes: {
          bearer: { type: 'http', scheme: 'bearer', description: 'SERVICE_API_TOKEN' },
          session: { type: 'apiKey', in: 'cookie', name: sessionCookieName, description: cookieRule },
        },
      },
      security: credentials,
    },
    // A route declares once whether it is public and what it takes; the document shows what follows from that.
    transform: ({ schema, url, route }) => {
      const response = { ...errorResponses(commonStatuses(route)), ...(schema.response as object | undefined) }
      const { form, public: isPublic, anonymous } = route.config ?? {}
      const body = form && { body: form, consumes: ['multipart/form-data'] }
      const security = {
        ...(isPublic && { security: [] }),
        // An empty requirement says that the others are optional.
        ...(anonymous && { security: [...credentials, {}] }),
      }
      return { url, schema: { ...schema, ...body, response, ...security } }
    },
  })
  const open = { config: { public: true as const }, schema: { hide: true } }
  app.get('/static/openapi.json', open, () => documentOf(app))
  let page: string | undefined
  app.get('/static/reference.html', open, (_request, reply) => {
    // The routes do not change, so the page is rendered once.
    page ??= renderReference(documentOf(app))
    return reply.type('text/html; charset=utf-8').send(page)
  })
}

function documentOf(app: HttpApp): ApiDocument {
  return app.swagger() as ApiDocument
}
