// Answers 404 with Rails' page for the routes that the simulated version does not have yet.

import type { Features } from '../versions.ts'
import type { HttpApp } from './http-app.ts'
import type { Office } from './office.ts'
import { notFoundPage } from './rails-reply.ts'

const account = '/api/v1/accounts/:account_id'
const publicInbox = '/public/api/v1/inboxes/:identifier'

const needs: Record<string, keyof Features> = {
  [`PATCH ${account}/conversations/:id/messages/:message_id`]: 'statusPatch',
  [`PUT ${account}/conversations/:id/messages/:message_id`]: 'statusPatch',
  [`POST ${account}/conversations/:id/messages/:message_id/retry`]: 'messageRetry',
  [`DELETE ${account}/conversations/:id`]: 'deleteConversation',
  [`POST ${account}/inboxes/:id/reset_secret`]: 'inboxSecret',
  [`POST ${publicInbox}/contacts/:source_id/conversations/:id/toggle_status`]: 'publicToggleStatus',
  'GET /health': 'health',
}

/** Rails looks for the route first, so the answer does not depend on the token. */
export function hideMissingRoutes(app: HttpApp, { desk }: Office): void {
  app.addHook('onRequest', async ({ method, routeOptions }, reply) => {
    const feature = needs[`${method} ${routeOptions.url ?? ''}`]
    if (feature === undefined || desk.features[feature]) return
    await reply.code(404).type('text/html').send(notFoundPage)
  })
}
