// Signs deliveries: the Standard Webhooks headers, and our own header over the body alone.

import { createHmac } from 'node:crypto'

export type Signed = { id: string; timestampMs: number; body: string }

/** Without a secret there is an id and a time, and no signature. */
export function deliveryHeaders({ id, timestampMs, body }: Signed, secret: Uint8Array | null): Record<string, string> {
  const timestamp = String(Math.floor(timestampMs / 1000))
  const named = { 'webhook-id': id, 'webhook-timestamp': timestamp }
  if (secret === null) return named
  return {
    ...named,
    'webhook-signature': `v1,${hmac(secret, `${id}.${timestamp}.${body}`).toString('base64')}`,
    'x-service-signature': `sha256=${hmac(secret, body).toString('hex')}`,
  }
}

function hmac(secret: Uint8Array, text: string): Buffer {
  return createHmac('sha256', secret).update(text).digest()
}
