// One lifecycle event on its way to one subscriber.

import type { InstanceName } from '../ids.ts'
import type { LifecycleEvent } from './lifecycle.ts'

/**
 * pending   waiting for its first or next attempt
 * delivered the subscriber answered 2xx
 * exhausted every attempt failed, or its time was over
 * refused   the subscriber answered 410: it does not want this event
 * dropped   a newer event took its place
 */
export type DeliveryStatus = 'pending' | 'delivered' | 'exhausted' | 'refused' | 'dropped'

/** A subscriber may ask for a pause of a day, and the pauses without such a wish are shorter. */
export const longestPauseMs = 24 * 3_600_000

export type Delivery = {
  /** The id of the row, which sorts by age. */
  id: string
  /** The id of the event: the same for all its subscribers and attempts. */
  eventId: string
  event: LifecycleEvent
  instance: InstanceName
  url: string
  body: string
  createdAt: number
  /** After this time the event is not delivered any more. */
  expiresAt: number | null
  attempts: number
  nextAt: number
}

/** The result of an attempt. */
export type DeliveryResult = {
  status: DeliveryStatus
  attempts: number
  nextAt: number
  code: number | null
  error: string | null
}

export type DeliveryReport = Omit<Delivery, 'body'> & {
  status: DeliveryStatus
  lastCode: number | null
  lastError: string | null
  finishedAt: number | null
}
