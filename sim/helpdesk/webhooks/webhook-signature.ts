// Signs a webhook as Chatwoot does: over the timestamp, a dot and the raw body.

import { createHmac } from 'node:crypto'

export function signatureHeaders(secret: string, body: string, now: number): Record<string, string> {
  const timestamp = String(Math.floor(now / 1000))
  const hex = createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')
  return { 'X-Chatwoot-Timestamp': timestamp, 'X-Chatwoot-Signature': `sha256=${hex}` }
}
