// The simulated helpdesk as a destination, in each form in which the service is told of one.

import type { SimHelpdesk } from '../../sim/helpdesk/sim-helpdesk.ts'
import { inboxPlace } from '../../src/core/downstream.ts'
import type { Destination } from '../../src/core/downstream.ts'

type Facts = Pick<SimHelpdesk, 'facts'>

/** The settings of a service that delivers to this helpdesk and takes its callbacks. */
export function destinationSettings({ facts }: Facts): Record<string, string> {
  return {
    DOWNSTREAM_BASE_URL: facts.url,
    DOWNSTREAM_API_TOKEN: facts.api_token,
    DOWNSTREAM_ACCOUNT_ID: String(facts.account_id),
    DOWNSTREAM_INBOX_ID: String(facts.inbox_id),
    WEBHOOK_HMAC_SECRET: facts.webhook_secret,
  }
}

/** The settings of a service that delivers to no helpdesk. */
export const noDestination = { DOWNSTREAM_BASE_URL: '', DOWNSTREAM_API_TOKEN: '', DOWNSTREAM_INBOX_ID: '0' }

/** The body of a request that sets up a tenant with this helpdesk. */
export function tenantSettings({ facts }: Facts, inboxId = facts.inbox_id) {
  return {
    downstream_base_url: facts.url,
    downstream_api_token: facts.api_token,
    downstream_account_id: facts.account_id,
    downstream_inbox_id: inboxId,
  }
}

export function destinationOf({ facts }: Facts, changes: Partial<Destination> = {}): Destination {
  const { url, api_token: apiToken, account_id: accountId, inbox_id: inboxId } = facts
  const place = { baseUrl: url, accountId, inboxId, apiToken, ...changes }
  return { ...place, key: inboxPlace(place) }
}
