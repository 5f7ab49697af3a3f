// Tells from a message whether Chatwoot could not deliver its callback. Chatwoot then marks the message failed by itself.

import type { CallbackFailure } from '../core/helpdesk/conversation.ts'

/** A message as far as it shows that. `error` is Chatwoot's reason, which is a text of Chatwoot or one of ours. */
type MarkedMessage = { isFailed: boolean; isToCustomer: boolean; error: string | null }

const maxReason = 200

/** What Chatwoot writes when it got no answer, or one that the service does not give to a message of an agent. */
const undelivered = [
  /no public ip addresses|Could not resolve hostname/i,
  /^(?:bad URI|scheme must be|Failed to open TCP|Connection refused|SSL_connect|Got \d+ redirects|exceeded \d+ bytes)/i,
  /^(?:Net::(?:Open|Read)Timeout|Timed out|end of file reached|Server broke connection)/i,
  /^(?:3\d\d|401|403|404|405|502|504)\b/,
]

const advices: readonly [words: RegExp, advice: string][] = [
  [
    /no public ip addresses/i,
    'set SAFE_FETCH_ALLOW_PRIVATE_NETWORK=true at Chatwoot (4.14.1 or newer), or use a public address in the webhook URL of the helpdesk inbox',
  ],
  [
    /^401\b/,
    'look at callbacks_refused and clocks_differ in GET /api/health: they say why the service refuses the callbacks, and what to do; if they do not name the instance, a proxy before the service refuses them',
  ],
  [
    /^404\b/,
    'the webhook URL of the helpdesk inbox must end with /api/instances/<name>/webhook, with the name of an instance: POST /api/instances/<name>/inbox sets it',
  ],
  [/^5\d\d\b/, 'look into the log of the service and of the proxy before it'],
]
const usualAdvice =
  'check whether Chatwoot can reach the service at the webhook URL of the helpdesk inbox; if the URL is wrong, set SERVICE_PUBLIC_URL to the right base URL, and POST /api/instances/<name>/inbox writes it there'

/**
 * Undefined when the callback was delivered, or may still be. The service marks only messages to customers as failed, so on
 * any other message the mark is Chatwoot's.
 */
export function callbackFailureOf({ isFailed, isToCustomer, error }: MarkedMessage): CallbackFailure | undefined {
  const reason = shown(error ?? 'Chatwoot gives no reason')
  if (!isFailed || (isToCustomer && !undelivered.some((words) => words.test(reason)))) return undefined
  return { reason, advice: advices.find(([words]) => words.test(reason))?.[1] ?? usualAdvice }
}

/** One short line. A webhook URL may carry a password or a token, which no log may show. */
function shown(error: string): string {
  return error
    .slice(0, 2 * maxReason)
    .replace(/[\p{C}\s]+/gu, ' ')
    .replace(/\/\/[^/@\s"']*@/g, '//')
    .replace(/\?[^\s"']*(?=["']|$)/g, '')
    .trim()
    .slice(0, maxReason)
}
