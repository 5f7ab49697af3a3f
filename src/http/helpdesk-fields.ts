// The fields of requests that name a helpdesk: address, token, account.

import { Type } from 'typebox'
import { BridgeError } from '../core/errors.ts'

export const BaseUrl = Type.String({ maxLength: 2048, description: 'http(s) URL of the Chatwoot' })
// The token travels in an HTTP header: a line break would start the next one, and other characters cannot be sent at all.
export const ApiToken = Type.String({
  minLength: 1,
  maxLength: 4096,
  pattern: '^[\\x20-\\x7e]*$',
  description: 'a text of printable ASCII characters; write-only',
})

export const AccountId = Type.Integer({ minimum: 1, maximum: 2 ** 31 - 1 })

/** The address as it is stored: without a slash at its end. */
export function checkBaseUrl(given: string): string {
  // URL.parse would drop them silently.
  if (/[\s\p{C}]/u.test(given)) {
    throw new BridgeError('SERVICE_BAD_REQUEST', 'downstream_base_url must not hold spaces or control characters')
  }
  const url = URL.parse(given)
  if (!url || !/^https?:$/.test(url.protocol) || /[?#]/.test(given)) {
    throw new BridgeError('SERVICE_BAD_REQUEST', 'downstream_base_url must be an http:// or https:// URL without query')
  }
  // The list of tenants shows the URL; the token has a field of its own.
  if (url.username !== '' || url.password !== '') {
    throw new BridgeError('SERVICE_BAD_REQUEST', 'downstream_base_url must not carry a user name or password')
  }
  return url.origin + url.pathname.replace(/(?<!\/)\/+$/, '')
}
