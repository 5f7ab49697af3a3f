// The header with which a helpdesk signs a callback.

import { createHmac } from 'node:crypto'

export function signatureOf(body: string, secret: string): { 'x-service-signature': string } {
  return { 'x-service-signature': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}` }
}
