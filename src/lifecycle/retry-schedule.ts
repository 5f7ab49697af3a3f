// Decides what follows an attempt: when to try again, and when to stop.

import { longestPauseMs } from '../core/lifecycle/delivery.ts'
import type { Delivery, DeliveryResult } from '../core/lifecycle/delivery.ts'

const second = 1000
const minute = 60 * second
const hour = 60 * minute

/** Between attempts, ±10 %; after the last one there is none. A subscriber may be away for a day: the pauses add up to 28 h. */
const pausesMs = [5 * second, 30 * second, 5 * minute, 30 * minute, 2 * hour, 5 * hour, 10 * hour, 10 * hour] as const

export type Attempt = {
  /** The status the subscriber answered with; null when it did not answer. */
  code: number | null
  error: string | null
  retryAfter: string | null
}

type Now = { now: number; random: () => number }

export function nextStep(
  delivery: Delivery,
  { code, error, retryAfter }: Attempt,
  { now, random }: Now,
): DeliveryResult {
  const attempts = delivery.attempts + 1
  const ended = (status: DeliveryResult['status']): DeliveryResult => ({ status, attempts, nextAt: now, code, error })
  if (code !== null && code >= 200 && code < 300) return ended('delivered')
  if (code === 410) return ended('refused')
  const pause = pausesMs[attempts - 1]
  if (pause === undefined) return ended('exhausted')
  const nextAt = now + Math.max(Math.round(pause * (0.9 + 0.2 * random())), wishedPause(retryAfter, now))
  if (delivery.expiresAt !== null && nextAt > delivery.expiresAt) return ended('exhausted')
  return { status: 'pending', attempts, nextAt, code, error }
}

/** Retry-After in seconds or as a date; an unreadable value is ignored. */
function wishedPause(retryAfter: string | null, now: number): number {
  if (retryAfter === null) return 0
  const ms = /^\d{1,9}$/.test(retryAfter) ? Number(retryAfter) * second : Date.parse(retryAfter) - now
  return Number.isFinite(ms) ? Math.min(Math.max(ms, 0), longestPauseMs) : 0
}
