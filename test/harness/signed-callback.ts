// The headers with which a helpdesk signs a callback.

import { createHmac } from 'node:crypto'

/** As a Chatwoot signs whose clock says `at`, in milliseconds. */
export function chatwootSignatureOf(body: string, secret: string, at: number): Record<string, string> {
  const timestamp = String(Math.floor(at / 1000))
  const digest = createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')
  return { 'x-chatwoot-timestamp': timestamp, 'x-chatwoot-signature': `sha256=${digest}` }
}

export function signatureOf(body: string, secret: string): { 'x-service-signature': string } {
  return { 'x-service-signature': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}` }
}
