import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../test/harness/manual-clock.ts'
import type { WebhookSubscriber } from '../core/lifecycle/lifecycle.ts'
import { blankInstance } from '../storage/stores/accounts/instance-rows.ts'
import { Announcer } from './announcer.ts'

const clock = new ManualClock(Date.UTC(2026, 0, 15, 12))
const announcer = new Announcer({ version: '1.2.3', clock })
const jid = '55@s.whatsapp.net'
const linked = { ...blankInstance('a', 1000), ownerTag: 'acme', jid, eventsWebhookUrl: 'http://one' }

function subscribed(...subscribers: WebhookSubscriber[]) {
  return { ...linked, eventsWebhookSubscribers: subscribers }
}

function urlsFor(instance: typeof linked, event: 'paired' | 'disconnected'): string[] {
  return announcer.prepare(instance, event).deliveries.map(({ url }) => url)
}

test('a payload has the instance, the event, the time and the fields of the event', () => {
  const { deliveries } = announcer.prepare(linked, 'disconnected', { reason: 'gone', code: 428 })
  const [delivery] = deliveries
  assert.ok(delivery)
  assert.deepEqual(JSON.parse(delivery.body), {
    id: delivery.eventId,
    event: 'disconnected',
    instance: 'a',
    owner_tag: 'acme',
    jid,
    occurred_at: '2026-01-15T12:00:00.000Z',
    version: '1.2.3',
    reason: 'gone',
    code: 428,
  })
})

test('without subscribers the single URL receives every event; without a URL no delivery is made', () => {
  assert.deepEqual(urlsFor(linked, 'paired'), ['http://one'])
  assert.deepEqual(urlsFor({ ...linked, eventsWebhookUrl: '' }, 'paired'), [])
})

test('subscribers replace the single URL, each with its filter; an empty filter is all events', () => {
  const instance = subscribed(
    { url: 'http://all', events: [] },
    { url: 'http://paired', events: ['paired', 'connected'] },
    { url: 'http://other', events: ['strike'] },
  )
  assert.deepEqual(urlsFor(instance, 'paired'), ['http://all', 'http://paired'])
  assert.deepEqual(urlsFor(instance, 'disconnected'), ['http://all'])
})

test('a URL that is named twice receives an event once', () => {
  const instance = subscribed({ url: 'http://x', events: [] }, { url: 'http://x', events: ['paired'] })
  assert.deepEqual(urlsFor(instance, 'paired'), ['http://x'])
})

test('all subscribers of one event see the same id and body; rows sort by age', () => {
  const instance = subscribed({ url: 'http://x', events: [] }, { url: 'http://y', events: [] })
  const [first, second] = announcer.prepare(instance, 'paired').deliveries
  const later = announcer.prepare(instance, 'connected').deliveries[0]
  assert.ok(first && second && later)
  assert.equal(first.body, second.body)
  assert.equal(first.eventId, second.eventId)
  assert.notEqual(first.id, second.id)
  assert.ok(second.id < later.id)
  assert.notEqual(first.eventId, later.eventId)
})

test('a logout names the number that was logged out', () => {
  const out = { ...linked, jid: null, lastJid: jid }
  const jidIn = (event: 'logged_out' | 'qr_generated') =>
    (JSON.parse(announcer.prepare(out, event).deliveries[0]?.body ?? '{}') as { jid: string | null }).jid
  assert.equal(jidIn('logged_out'), jid)
  assert.equal(jidIn('qr_generated'), null)
})

test('a QR code expires after 20 s, events of the backend after 5 minutes, others never', () => {
  const lifetimeOf = (event: 'qr_generated' | 'backend_started' | 'backend_restarting' | 'strike') => {
    const [delivery] = announcer.prepare(linked, event).deliveries
    return delivery?.expiresAt === null ? null : (delivery?.expiresAt ?? 0) - clock.now()
  }
  assert.equal(lifetimeOf('qr_generated'), 20_000)
  assert.equal(lifetimeOf('backend_started'), 300_000)
  assert.equal(lifetimeOf('backend_restarting'), 300_000)
  assert.equal(lifetimeOf('strike'), null)
})
