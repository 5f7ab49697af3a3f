// Turns an event of an instance into deliveries, one for each subscriber of the event.

import { randomUUID } from 'node:crypto'
import type { Delivery } from '../core/lifecycle/delivery.ts'
import type { InstanceName } from '../core/ids.ts'
import type { EventExtras, LifecycleEvent } from '../core/lifecycle/lifecycle.ts'
import type { Clock } from '../lib/clock.ts'
import { createRowIds } from '../lib/row-ids.ts'
import type { InstanceRow } from '../storage/stores/accounts/instance-rows.ts'

export type Subject = Pick<
  InstanceRow,
  'name' | 'ownerTag' | 'jid' | 'lastJid' | 'eventsWebhookUrl' | 'eventsWebhookSubscribers'
>

/** An event, with the deliveries to store together with it. */
export type Announcement = {
  event: LifecycleEvent
  instance: InstanceName
  ownerTag: string
  extras: EventExtras
  deliveries: readonly Delivery[]
}

type Deps = { version: string; clock: Clock }

/** How long an event is worth delivering; the others do not expire. */
const lifetimes: Partial<Record<LifecycleEvent, number>> = {
  qr_generated: 20_000,
  backend_restarting: 5 * 60_000,
  backend_started: 5 * 60_000,
}

export class Announcer {
  readonly #deps: Deps
  readonly #nextId: () => string

  constructor(deps: Deps) {
    this.#deps = deps
    this.#nextId = createRowIds(deps.clock)
  }

  prepare(subject: Readonly<Subject>, event: LifecycleEvent, extras: EventExtras = {}): Announcement {
    const { name: instance, ownerTag } = subject
    const now = this.#deps.clock.now()
    const eventId = randomUUID()
    const urls = targetsOf(subject, event)
    const body = urls.length > 0 ? this.#payload(subject, event, { eventId, now, extras }) : ''
    const lifetime = lifetimes[event]
    const deliveries = urls.map((url) => ({
      id: this.#nextId(),
      eventId,
      event,
      instance,
      url,
      body,
      createdAt: now,
      expiresAt: lifetime === undefined ? null : now + lifetime,
      attempts: 0,
      nextAt: now,
    }))
    return { event, instance, ownerTag, extras, deliveries }
  }

  #payload(
    { name, ownerTag, jid, lastJid }: Readonly<Subject>,
    event: LifecycleEvent,
    { eventId, now, extras }: { eventId: string; now: number; extras: EventExtras },
  ): string {
    return JSON.stringify({
      id: eventId,
      event,
      instance: name,
      owner_tag: ownerTag,
      // Readers of this event need the number that was logged out.
      jid: event === 'logged_out' ? (jid ?? lastJid) : jid,
      occurred_at: new Date(now).toISOString(),
      version: this.#deps.version,
      ...extras,
    })
  }
}

/** Subscribers replace the single URL; each URL receives an event once. */
function targetsOf(subject: Readonly<Subject>, event: LifecycleEvent) {
  const { eventsWebhookUrl, eventsWebhookSubscribers: subscribers } = subject
  if (subscribers.length === 0) return eventsWebhookUrl === '' ? [] : [eventsWebhookUrl]
  const wanted = subscribers.filter(({ events }) => events.length === 0 || events.includes(event))
  return [...new Set(wanted.map(({ url }) => url))]
}
