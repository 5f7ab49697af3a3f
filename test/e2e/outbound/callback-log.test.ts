// Callbacks carry texts, phone numbers and a token that opens the chat of the customer. None of them gets into the log.

import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import pg from 'pg'
import type { EngineName } from '../../../src/storage/database.ts'
import { AgentWorld } from '../../harness/agent-world.ts'
import { drawnEngines } from '../../harness/drawn-engine.ts'
import { waitUntil } from '../../harness/wait-until.ts'

type Body = Record<string, unknown>

const token = 'pubsub-canary-token'
const words = 'canary words'
const phone = '5511888880001'

/** The parts of Chatwoot's bodies that carry what must stay secret. */
function conversationOf(world: AgentWorld): Body {
  return {
    id: world.conversation,
    inbox_id: 1,
    status: 'open',
    agent_last_seen_at: 1,
    contact_inbox: { id: 5, source_id: phone, pubsub_token: token },
    messages: [{ id: 1, account_id: 1, content: words, conversation: { contact_inbox: { source_id: phone } } }],
    meta: { sender: { identifier: `${phone}@s.whatsapp.net`, phone_number: `+${phone}`, name: words } },
  }
}

/** A callback of every kind: messages of every sort, and the events of a conversation. */
function goodBodies(world: AgentWorld): Body[] {
  const conversation = conversationOf(world)
  let id = 7000
  const message = (more: Body): Body => world.callback(++id, `${words} ${id}`, { conversation, ...more })
  const file = { id: 1, data_url: `http://127.0.0.1:9/${phone}/${token}/canary words.pdf`, file_size: 10 }
  const stranger = {
    ...conversation,
    id: 99,
    contact_inbox: { pubsub_token: token },
    meta: { sender: { name: words } },
  }
  return [
    message({}),
    message({ message_type: 'incoming' }),
    message({ message_type: 'template', sender: null }),
    message({ private: true }),
    message({ source_id: 'ours' }),
    message({ content_attributes: { deleted: true } }),
    message({ content_type: 'cards', content: null, content_attributes: { items: [{ title: words }] } }),
    message({ content: words.repeat(10_000) }),
    message({ attachments: [file] }),
    message({ attachments: [{ id: 2 }] }),
    message({ account: { id: 2 } }),
    message({ conversation: stranger }),
    message({ event: 'message_updated' }),
    message({ event: 'message_updated', content_attributes: { external_error: words } }),
    message({ event: 'message_updated', content_attributes: { deleted: true } }),
    { ...conversation, event: 'conversation_created' },
    { ...conversation, event: 'conversation_updated', changed_attributes: [{ status: { current_value: words } }] },
    { ...conversation, status: 'resolved', event: 'conversation_status_changed' },
    { event: 'conversation_typing_on', conversation, user: { type: 'user', name: words } },
    { event: 'conversation_typing_off', conversation, user: { type: 'user', name: words } },
    { event: words, conversation },
  ]
}

/** The same bodies with each field in turn of a wrong type, and texts that are no JSON. */
function brokenBodies(good: readonly Body[]): (Body | string)[] {
  const wrong = (body: Body) =>
    Object.keys(body).flatMap((field) => [
      { ...body, [field]: [{ [words]: token }] },
      { ...body, [field]: `${words} ${token} ${phone}` },
      { ...body, [field]: { [phone]: words, id: words, contact_inbox: token, meta: words, sender: [token] } },
    ])
  const texts = [`{"content":"${words}","pubsub_token":"${token}",`, `${words} ${token} +${phone}`, `"${words}"`]
  return [...good.slice(0, 1), ...good.slice(-9)].flatMap(wrong).concat(texts as never)
}

/** Runs a statement beside the service. */
async function run(engine: EngineName, path: string, statement: string): Promise<void> {
  if (engine === 'sqlite') {
    using database = new DatabaseSync(path, { timeout: 5000 })
    database.exec(statement)
    return
  }
  const client = new pg.Client({ connectionString: path })
  await client.connect()
  await client.query(statement)
  await client.end()
}

for (const engine of drawnEngines(import.meta.url)) {
  test(`no callback, followed, refused or broken, leaves a token, a text or a phone number in the log, on ${engine}`, async () => {
    await using world = await AgentWorld.open({ engine, environment: { LOG_LEVEL: 'trace' } })
    const statuses = new Map<number, number>()
    const post = async (body: unknown, options?: { instance?: string; secret?: string }) => {
      const { status } = await world.post(body, options)
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
    }
    const { databasePath } = world.service
    await run(engine, databasePath, 'ALTER TABLE outbox RENAME TO outbox_away')
    await Promise.all(goodBodies(world).map((body) => post(body)))
    await run(engine, databasePath, 'ALTER TABLE outbox_away RENAME TO outbox')
    for (const body of goodBodies(world)) await post(body)
    for (const body of goodBodies(world).slice(0, 1)) {
      await post(body, { secret: 'wrong' })
      await post(body, { instance: 'unknown' })
    }
    for (const body of brokenBodies(goodBodies(world))) await post(body)
    // The helpdesk does not have the messages of these callbacks, so the service looks for them and finds nothing.
    const looks = () =>
      world.helpdesk.requests.filter(({ method, path }) => method === 'GET' && /\/messages/.test(path))
    await waitUntil('failed messages are looked for', () => looks().length >= 2)
    for (const status of [200, 400, 401, 404, 422, 500]) assert.ok(statuses.has(status), `${status} was answered`)
    const { lines } = world.service.logs
    assert.ok(lines.length > statuses.size)
    for (const secret of [token, words, phone, world.helpdesk.facts.webhook_secret]) {
      assert.deepEqual(
        lines.filter((line) => line.includes(secret)),
        [],
        secret,
      )
    }
  })
}
