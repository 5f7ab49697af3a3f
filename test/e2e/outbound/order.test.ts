// Chatwoot's workers deliver callbacks concurrently and swap them. The customer gets the messages in the order in which they
// were written.

import { AgentWorld } from '../../harness/agent-world.ts'
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { calm } from '../../../sim/helpdesk/settings.ts'
import { attach, shownTo, textFile } from '../../harness/agent-files.ts'
import { drawnEngines } from '../../harness/drawn-engine.ts'
import { FastClock } from '../../harness/fast-clock.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { WebhookCatcher } from '../../sim-helpdesk/harness/webhook-catcher.ts'
import type { Caught } from '../../sim-helpdesk/harness/webhook-catcher.ts'

const range = (count: number) => Array.from({ length: count }, (_, n) => n)
const textsOf = (count: number) => range(count).map((n) => `text ${n}`)

/** The second of the service takes ten, so that a busy machine delivers the callbacks in time. */
const patientClock = () => new FastClock(0.1)

/** The order in which a real Chatwoot delivered 20 callbacks after its workers had been away. */
const asRecorded = [0, 5, 3, 1, 4, 10, 2, 6, 9, 7, 11, 8, 12, 13, 18, 15, 14, 16, 17, 19]

/** The helpdesk calls the catcher instead of the service; the callbacks of the messages, by their text. */
async function caughtCallbacks(world: AgentWorld, catcher: WebhookCatcher, texts: readonly string[]) {
  await world.desk.patch('/inboxes/1', { channel: { webhook_url: catcher.url } })
  for (const text of texts) await world.write(text)
  return Promise.all(texts.map((text) => catcher.waitFor('message_created', ({ content }) => content === text)))
}

function forward(world: AgentWorld, { raw, headers }: Pick<Caught, 'raw' | 'headers'>) {
  const { 'x-chatwoot-signature': signature, 'x-chatwoot-timestamp': timestamp } = headers
  const signed = { 'x-chatwoot-signature': String(signature), 'x-chatwoot-timestamp': String(timestamp) }
  return world.service.request('POST', '/api/instances/n0/webhook', { token: null, body: raw, headers: signed })
}

async function arrive(world: AgentWorld, texts: readonly string[]): Promise<void> {
  await waitUntil('all have arrived', () => world.texts().length >= texts.length, { instead: () => world.texts() })
  assert.deepEqual(world.texts(), texts)
}

const reordered = 'service_callbacks_reordered_total{instance="n0"}'

for (const engine of drawnEngines(import.meta.url)) {
  describe(`swapped callbacks, on ${engine}`, () => {
    test("20 callbacks that come swapped after Chatwoot's workers were away: the customer gets 0 to 19", async () => {
      await using catcher = await WebhookCatcher.start()
      await using world = await AgentWorld.open({ engine, clock: patientClock() })
      const texts = textsOf(20)
      const callbacks = await caughtCallbacks(world, catcher, texts)
      const [first, ...others] = asRecorded.map((n) => callbacks[n] as Caught)
      const asked = world.helpdesk.requests.length
      assert.equal((await forward(world, first as Caught)).status, 200)
      const answers = await Promise.all(others.map((callback) => forward(world, callback)))
      assert.ok(answers.every(({ status }) => status < 300))
      await arrive(world, texts)
      assert.ok((await world.metric(reordered)) > 0)
      const questions = world.helpdesk.requests.slice(asked).filter(({ method }) => method === 'GET')
      assert.ok(questions.length <= 4, `${questions.length} questions to the helpdesk`)
    })

    test('20 messages posted in parallel, up to 326 ms late, arrive in the order of the helpdesk', async () => {
      const quirks = { ...calm, delayMs: [1, 326] as const }
      await using world = await AgentWorld.open({
        engine,
        clock: patientClock(),
        helpdesk: { quirks, webhookTimeoutMs: 60_000 },
      })
      await world.write('first')
      await world.received('first')
      const ids = await Promise.all(textsOf(20).map(async (text) => ({ text, id: await world.write(text) })))
      const written = ids.sort((a, b) => a.id - b.id).map(({ text }) => text)
      await arrive(world, ['first', ...written])
      const created = world.helpdesk.deliveries.filter(({ event }) => event === 'message_created')
      assert.ok(created.every(({ status }) => status === 200 || status === 202))
    })
  })
}

test('a callback whose message waited at Chatwoot leaves after the older messages, also when it comes first', async () => {
  await using catcher = await WebhookCatcher.start()
  const quirks = { ...calm, delayMs: [3000, 3000] as const }
  await using world = await AgentWorld.open({ clock: patientClock(), helpdesk: { quirks, webhookTimeoutMs: 60_000 } })
  await world.desk.patch('/inboxes/1', { channel: { webhook_url: catcher.url } })
  const texts = textsOf(3)
  for (const text of texts) await world.write(text)
  await world.helpdesk.advance(3500)
  const callbacks = await Promise.all(
    texts.map((text) => catcher.waitFor('message_created', ({ content }) => content === text)),
  )
  const [first, second, third] = callbacks as [Caught, Caught, Caught]
  const asking = world.helpdesk.requests.length
  const last = forward(world, third)
  await waitUntil('the helpdesk is asked', () => world.helpdesk.requests.length > asking)
  await Promise.all([last, forward(world, second), forward(world, first)])
  await arrive(world, texts)
})

test('a helpdesk that does not answer delays a message of a burst by a second at most, and none fails', async () => {
  await using world = await AgentWorld.open()
  await world.helpdesk.fault({ kind: 'slow', ms: 60_000, method: 'GET' })
  const [first = '', ...others] = textsOf(3)
  const answers = [await world.post(world.callback(9001, first))]
  answers.push(...(await Promise.all(others.map((text, n) => world.post(world.callback(9002 + n, text))))))
  assert.ok(answers.every(({ status }) => status < 300))
  await arrive(world, textsOf(3))
})

test('files are sent in the order of their ids, and the caption is on the first', async () => {
  await using catcher = await WebhookCatcher.start()
  await using world = await AgentWorld.open()
  await world.desk.patch('/inboxes/1', { channel: { webhook_url: catcher.url } })
  await attach(
    world,
    'caption',
    ['a.txt', 'b.txt', 'c.txt'].map((name) => textFile(name)),
  )
  const { body } = await catcher.waitFor('message_created')
  const attachments = (body['attachments'] as object[]).toReversed()
  assert.ok((await world.post({ ...body, attachments })).status < 300)
  await waitUntil('all have arrived', () => world.bob.messages.length >= 3)
  assert.deepEqual(shownTo(world.bob), ['a.txt: caption', 'b.txt', 'c.txt'])
})
