// Makes one attempt to deliver an event: a signed POST with a deadline, no redirects.

import type { Delivery } from '../core/lifecycle/delivery.ts'
import type { Clock } from '../lib/clock.ts'
import type { Egress } from '../lib/egress/egress.ts'
import { EgressError } from '../lib/egress/errors.ts'
import type { Attempt } from './retry-schedule.ts'
import { deliveryHeaders } from './signing.ts'

type Deps = { egress: Pick<Egress, 'request'>; clock: Clock; timeoutMs: number; secret: Uint8Array | null }

/** Only the status of the answer is used. */
const answerBytes = 64 * 1024

export function createDelivery({ egress, clock, timeoutMs, secret }: Deps) {
  return async ({ url, body, eventId }: Delivery, signal: AbortSignal): Promise<Attempt> => {
    const signed = deliveryHeaders({ id: eventId, timestampMs: clock.now(), body }, secret)
    try {
      const { status, headers } = await egress.request({
        method: 'POST',
        url,
        headers: { 'content-type': 'application/json', 'user-agent': 'causeway', ...signed },
        body,
        timeoutMs,
        maxResponseBytes: answerBytes,
        signal,
      })
      return attemptOf(status, headers['retry-after'])
    } catch (error) {
      if (error instanceof EgressError && error.status !== undefined) return attemptOf(error.status, undefined)
      return { code: null, error: error instanceof Error ? error.message : String(error), retryAfter: null }
    }
  }
}

function attemptOf(code: number, retryAfter: string | string[] | undefined): Attempt {
  const isSuccess = code >= 200 && code < 300
  const wish = Array.isArray(retryAfter) ? retryAfter[0] : retryAfter
  return { code, error: isSuccess ? null : `the subscriber answered ${code}`, retryAfter: wish ?? null }
}
