// Checks that a callback is signed with the secret of its inbox, in our own header or in Chatwoot's header with a timestamp.

import { createHmac, timingSafeEqual } from 'node:crypto'

type Headers = Readonly<Record<string, string | string[] | undefined>>

type SignedRequest = {
  headers: Headers
  /** The bytes before any parsing. */
  rawBody: Uint8Array
}

const toleranceMs = 5 * 60_000

/** When Chatwoot sent a callback, in milliseconds by its clock, in whole seconds; null when the header does not say. */
export function sentAt(headers: Headers): number | null {
  const timestamp = headers['x-chatwoot-timestamp']
  return typeof timestamp === 'string' && /^\d{1,12}$/.test(timestamp) ? Number(timestamp) * 1000 : null
}

/** Whether the headers hold a signature at all. A callback without one can be refused before its body is read. */
export function carriesSignature(headers: Headers): boolean {
  return [headers['x-service-signature'], headers['x-chatwoot-signature']].some(isSignature)
}

/** An object: the signature is right for its timestamp, but the timestamp is too far ahead of our clock, or behind it (< 0). */
type SignatureVerdict = 'right' | 'wrong' | { aheadMs: number }

/**
 * Whether one of the secrets signed the request. All of them are tried, so that the time says nothing about which one did.
 * Throws without a secret: an unsigned inbox must not be checked.
 */
export function checkSignatures(request: SignedRequest, secrets: readonly string[], now: number): SignatureVerdict {
  if (secrets.length === 0) throw new Error('a signature cannot be checked without a secret')
  const verdicts = secrets.map((secret) => checkSignature(request, secret, now))
  if (verdicts.includes('right')) return 'right'
  return verdicts.find((verdict) => verdict !== 'wrong') ?? 'wrong'
}

/** `now` in milliseconds. Throws when the secret is empty: an unsigned inbox must not be checked. */
export function checkSignature({ headers, rawBody }: SignedRequest, secret: string, now: number): SignatureVerdict {
  if (secret === '') throw new Error('a signature cannot be checked without a secret')
  if (matches(headers['x-service-signature'], secret, [rawBody])) return 'right'
  const at = sentAt(headers)
  const signed = [`${String(headers['x-chatwoot-timestamp'])}.`, rawBody]
  if (at === null || !matches(headers['x-chatwoot-signature'], secret, signed)) return 'wrong'
  return Math.abs(at - now) > toleranceMs ? { aheadMs: at - now } : 'right'
}

function matches(header: Headers[string], secret: string, signed: readonly (string | Uint8Array)[]): boolean {
  if (!isSignature(header)) return false
  const hmac = createHmac('sha256', secret)
  for (const part of signed) hmac.update(part)
  return timingSafeEqual(hmac.digest(), Buffer.from(header.slice('sha256='.length), 'hex'))
}

function isSignature(header: Headers[string]): header is string {
  return typeof header === 'string' && /^sha256=[0-9a-f]{64}$/i.test(header)
}
