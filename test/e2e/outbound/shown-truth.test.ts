// What the helpdesk shows of a message is true in the end: sent when the customer has it, failed with a reason when not.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { calm } from '../../../sim/helpdesk/settings.ts'
import type { Database } from '../../../src/storage/database.ts'
import { AgentWorld } from '../../harness/agent-world.ts'
import { attach } from '../../harness/agent-files.ts'
import { drawnEngines } from '../../harness/drawn-engine.ts'
import { waitUntil } from '../../harness/wait-until.ts'

const quiet = { helpdesk: { quirks: calm } }
const ofMessages = /\/messages\/\d+$/
const mp3 = { name: 'a.mp3', type: 'audio/mpeg', bytes: Buffer.concat([Buffer.from('ID3'), Buffer.alloc(500, 0x55)]) }

function retry(world: AgentWorld, id: number) {
  return world.agent.post(`/conversations/${world.conversation}/messages/${id}/retry`)
}

const errorOf = (message: { contentAttributes: Record<string, unknown> }) =>
  String(message.contentAttributes['external_error'])

/** Everything has happened that follows: another message arrives, and nothing but the expected texts was received. */
async function assertReceived(world: AgentWorld, texts: readonly string[]): Promise<void> {
  await world.helpdesk.settled()
  await world.post(world.callback(9000, 'the end'))
  await world.received('the end')
  assert.deepEqual(world.texts(), [...texts, 'the end'])
}

for (const engine of drawnEngines(import.meta.url)) {
  // Side by side: most of the time is spent waiting for answers that come late. More than three services at a time would not
  // answer callbacks in time on a busy machine.
  describe(`a message that an agent sees, on ${engine}`, () => {
    describe(`Retry on ${engine}`, { concurrency: 3 }, () => {
      for (const status of [404, 422]) {
        test(`sends the message although the helpdesk answered ${status} to its reason`, async () => {
          await using world = await AgentWorld.open({ engine, ...quiet })
          await world.helpdesk.fault({ kind: 'status', status, method: 'PATCH', path: ofMessages })
          world.network.fault({ kind: 'ack_error', code: 404 })
          const id = await world.write('second try')
          await waitUntil('the reason is refused', () => (world.helpdesk.faults[0]?.struck ?? 0) > 0)
          await retry(world, id)
          await world.received('second try')
          await assertReceived(world, ['second try'])
          assert.equal((await world.shown(id, () => true)).status, 'sent')
        })
      }

      test('counts before our reason is shown, and the reason does not replace it', async () => {
        await using world = await AgentWorld.open({ engine, ...quiet })
        world.network.fault({ kind: 'ack_error', code: 404 })
        const id = await world.write('at once')
        const shown = await world.shown(id, ({ status }) => status === 'failed')
        assert.match(errorOf(shown), /^500/, 'the helpdesk shows the status line first')
        await retry(world, id)
        await world.received('at once')
        await assertReceived(world, ['at once'])
        await assertStays(world, id, 'sent')
      })

      test('counts between the commit of our reason and its answer', async () => {
        await using world = await AgentWorld.open({ engine, ...quiet })
        await world.helpdesk.fault({ kind: 'timeout', commit: 'at_once', method: 'PATCH', path: ofMessages, times: 1 })
        world.network.fault({ kind: 'ack_error', code: 404 })
        const id = await world.write('in between')
        await world.shown(id, (message) => /404/.test(errorOf(message)))
        await retry(world, id)
        await world.received('in between')
        await assertReceived(world, ['in between'])
        await assertStays(world, id, 'sent')
      })

      test('counts while our reason waits for its commit', async () => {
        await using world = await AgentWorld.open({ engine, ...quiet })
        await world.helpdesk.fault({ kind: 'slow', ms: 3000, method: 'PATCH', path: ofMessages, times: 1 })
        world.network.fault({ kind: 'ack_error', code: 404 })
        const id = await world.write('overtaken')
        await waitUntil('the reason is on its way', () => world.helpdesk.faults.length === 0)
        await retry(world, id)
        await world.shown(id, (message) => /404/.test(errorOf(message)))
        // The reason came after the Retry: the agent sees a failed message and presses again.
        await retry(world, id)
        await world.received('overtaken')
        await assertReceived(world, ['overtaken'])
        await assertStays(world, id, 'sent')
      })
    })

    describe(`a change of an unknown message on ${engine}`, { concurrency: 3 }, () => {
      test('sends nothing when the message is older than the first callback', async () => {
        await using world = await AgentWorld.open({ engine, ...quiet, seed: ageInstances })
        await world.desk.patch('/inboxes/1', { channel: { webhook_url: '' } })
        const id = await world.write('before the webhook')
        await world.listen()
        await world.post({ ...world.callback(id, 'before the webhook'), ...written(60_000), event: 'message_updated' })
        await assertReceived(world, [])
        await assertStays(world, id, 'sent')
      })

      test('sends and marks nothing when the message is of another inbox', async () => {
        await using world = await AgentWorld.open({ engine, ...quiet })
        await world.desk.patch('/inboxes/1', { channel: { webhook_url: '' } })
        const id = await world.write('elsewhere')
        await world.listen()
        await world.post(world.callback(8000, 'first'))
        const elsewhere = { ...world.callback(id, 'elsewhere'), inbox: { id: 7 }, ...written(-1000) }
        await world.post({ ...elsewhere, event: 'message_updated' })
        await assertReceived(world, ['first'])
        await assertStays(world, id, 'sent')
      })

      test('is no Retry while the callback of the recording itself is on its way', async () => {
        const quirks = { ...calm, late: 1, lateMs: [700, 700] as const }
        await using world = await AgentWorld.open({ engine, helpdesk: { quirks, enterprise: true } })
        await world.post(world.callback(8000, 'first'))
        const id = await attach(world, '', [mp3])
        const created = await world.helpdesk.waitForDelivery(
          'its late callback',
          ({ event, body }) => event === 'message_created' && 'id' in body && body.id === id,
        )
        assert.equal(created.status, 200)
        await waitUntil('it has arrived', () => world.bob.messages.length === 2)
        const { database } = world.service
        const rows = () =>
          database.read(database.query.selectFrom('outbox').select('status').where('message_id', '=', id))
        await waitUntil('nothing of the request is left', async () => (await rows()).length === 1)
        await world.post(world.callback(9000, 'the end'))
        assert.equal(world.bob.messages.length, 3)
      })
    })

    describe(`an answer that comes too late, on ${engine}`, { concurrency: 3 }, () => {
      test('the message arrives, and the helpdesk shows it as sent in the end', async () => {
        const held = Promise.withResolvers<undefined>()
        const onSendStep = (step: string) => (step === 'sent' ? held.promise : Promise.resolve())
        await using world = await AgentWorld.open({
          engine,
          onSendStep,
          helpdesk: { quirks: calm, webhookTimeoutMs: 1000 },
        })
        const id = await world.write('too late')
        await world.received('too late')
        await world.shown(id, ({ status }) => status === 'failed')
        held.resolve(undefined)
        await world.shown(id, ({ status }) => status === 'sent')
        await assertStays(world, id, 'sent')
        assert.deepEqual(world.texts(), ['too late'])
      })

      test('a message that still waits is shown as sent too, also when its failure is told before its callback', async () => {
        await using world = await AgentWorld.open({
          engine,
          helpdesk: { quirks: { ...calm, late: 1, lateMs: [700, 700] } },
        })
        await world.disconnect()
        const id = await world.write('waits')
        const failure = { status: 'failed', external_error: 'Net::ReadTimeout' }
        await world.agent.patch(`/conversations/${world.conversation}/messages/${id}`, failure)
        await world.shown(id, ({ status }) => status === 'failed')
        await world.shown(id, ({ status }) => status === 'sent')
        await world.reconnect()
        await world.received('waits')
        assert.deepEqual(world.texts(), ['waits'])
      })
    })
  })
}

async function ageInstances(database: Database): Promise<void> {
  await database.write(database.query.updateTable('instances').set({ created_at: 1 }))
}

function written(agoMs: number): { created_at: string } {
  return { created_at: new Date(Date.now() - agoMs).toISOString() }
}

/** The helpdesk shows the message so, also after the time in which we would have told it something else. */
async function assertStays(world: AgentWorld, id: number, status: string): Promise<void> {
  await world.shown(id, (message) => message.status === status)
  await waitUntil('two seconds have passed', passed(2000))
  await world.helpdesk.settled()
  assert.equal((await world.shown(id, () => true)).status, status)
}

function passed(ms: number): () => boolean {
  const end = performance.now() + ms
  return () => performance.now() > end
}
