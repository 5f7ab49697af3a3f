// What the dashboard hears while it is open: the port through which parts tell that something changed, and the words for it.

import type { InstanceName } from './ids.ts'
import type { InstanceState } from './instance.ts'
import type { Job } from './jobs/job.ts'
import type { DeliveryStatus } from './lifecycle/delivery.ts'

export const liveKinds = ['instance', 'qr', 'destination', 'job', 'delivery', 'alert'] as const
export type LiveKind = (typeof liveKinds)[number]

/** Parts say only that something changed. What is told is read when it is told, and only while the dashboard is open. */
export type LiveChanges = {
  /** The state, the QR code, a count or a time of the instance changed. */
  instanceChanged(instance: InstanceName): void
  instanceDeleted(instance: InstanceName): void
  /** The destination, as operators see it, is held, is held for another reason, or is open again. */
  destinationChanged(destination: string): void
  jobChanged(job: Job): void
  deliveryEnded(delivery: EndedDelivery): void
}

export type EndedDelivery = {
  id: string
  instance: InstanceName
  event: string
  status: DeliveryStatus
  attempts: number
}

/** A change of the state of an instance. The reason names no customer. */
export type StateChange = { id: string; instance: InstanceName; at: number; state: InstanceState; reason: string }

/** When an instance last received a message that the helpdesk took, and last sent one; null when it is not known. */
export type LastMessageTimes = { inAt: number | null; outAt: number | null }

/** The connection of a listener. */
export type LiveSink = {
  write(text: string): void
  /** How many bytes the listener has not taken yet. */
  readonly waiting: number
  /** Ends the connection after the last text. A listener that does not read is cut off. */
  end(text: string): void
}
