// The database makes a commit and its answer is lost. The service repeats the write: nothing doubles, and nothing is stuck.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { CommitCutter } from '../../harness/commit-cutter.ts'
import { openCut } from '../../harness/cut-world.ts'
import { withoutPostgres } from '../../harness/databases.ts'
import { owner } from '../../harness/instance-api.ts'
import { SubscriberServer } from '../../harness/subscriber-server.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { World } from '../../harness/world.ts'

type Stage = AsyncDisposable & { world: World; cutter: CommitCutter; subscribers: SubscriberServer }

/** A service whose connections to PostgreSQL can be cut. */
async function open(): Promise<Stage> {
  await using stack = new AsyncDisposableStack()
  const subscribers = stack.use(await SubscriberServer.start())
  const world = await World.unlinked({ engine: 'postgres' })
  const cutter = stack.use(await CommitCutter.to(world.service.databasePath))
  stack.use(world)
  await world.restartService({ DATABASE_URL: cutter.url })
  const owned = stack.move()
  return { world, cutter, subscribers, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

/** The next commit with this text is made and not answered. */
async function losing(cutter: CommitCutter, text: string, work: () => Promise<unknown>): Promise<void> {
  const before = cutter.cuts
  cutter.cutAfter = text
  await work()
  await waitUntil(`a commit with ${text} loses its answer`, () => cutter.cuts > before)
}

async function audited(world: World, action: string): Promise<number> {
  const { body } = await world.service.get('/api/audit?limit=500')
  const { entries } = body as { entries: { action: string }[] }
  return entries.filter((entry) => entry.action === action).length
}

describe('the answer to a commit is lost', { skip: withoutPostgres, concurrency: 3 }, () => {
  test('of a state change: its event comes once, and later changes are stored', async () => {
    await using stage = await open()
    const { world, cutter, subscribers } = stage
    await world.pair('a', owner, { events_webhook_url: subscribers.url('/one') })
    await subscribers.gets('/one', 'connected')
    await losing(cutter, 'insert into "deliveries"', () => world.network.strike({ kind: 'drop', account: owner }))
    await subscribers.gets('/one', 'reconnected')
    assert.equal(subscribers.at('/one', 'disconnected').length, 1)
    const [stored] = await world.service.database.read(
      world.service.database.query.selectFrom('instances').select('state').where('name', '=', 'a'),
    )
    assert.equal(stored?.state, 'ready')
  })

  test('of a pairing and of a logout: both are answered, and are in the audit log once', async () => {
    await using stage = await open()
    const { world, cutter, subscribers } = stage
    await losing(cutter, 'insert into "audit"', () =>
      world.create({ name: 'a', events_webhook_url: subscribers.url('/one') }),
    )
    const { status } = await world.create({ name: 'a', events_webhook_url: subscribers.url('/one') })
    // The creation was committed and its answer was lost. By now the node may have found the instance by itself.
    assert.ok(status === 201 || status === 200, `answered ${status}`)
    await losing(cutter, 'paired_at', async () => {
      await world.network.account({ phone: owner }).scan(await world.qrText('a'))
    })
    await world.reaches('a', 'ready')
    await losing(cutter, 'insert into "pending_logouts"', async () => {
      assert.equal((await world.command('/a/logout')).status, 200)
    })
    await subscribers.gets('/one', 'logged_out')
    assert.deepEqual([await audited(world, 'instance.paired'), await audited(world, 'instance.logout')], [1, 1])
  })

  test('of counted usage: it counts once', async () => {
    await using stage = await open()
    const { world, cutter } = stage
    world.service.app.usage.count('a', '', 'messages_in', 5)
    await losing(cutter, 'insert into "usage"', () => world.service.get('/api/usage'))
    world.service.app.usage.count('a', '', 'messages_in', 2)
    const { messages_in } = await world.service.app.usage.totals()
    assert.equal(messages_in, 7)
  })

  const steps = [
    'insert into "session_keys"',
    'insert into "inbox"',
    'insert into "people"',
    'insert into "contacts"',
    'insert into "conversations"',
    'insert into "message_map"',
    'update "message_map"',
    // The commit that accepts a message of an agent.
    'insert into "settled_callbacks"',
    // The commit that marks a message sent.
    'insert into "outbox_totals"',
  ]
  test('of any step of a message: it arrives once, in either direction', async () => {
    await using stage = await openCut()
    const { world, cutter } = stage
    await world.allReady()
    for (const [n, step] of steps.entries()) {
      // A person who is not known yet takes all steps.
      const person = world.network.person({ phone: `551188888010${n}`, pushName: `Person ${n}` })
      await losing(cutter, step, async () => {
        person.text(world.phone, `from ${n}`)
        await world.write(`to ${n}`)
      })
      await world.received(`to ${n}`)
      await world.helpdesk.waitForMessage(undefined, ({ content }) => content === `from ${n}`, 60_000)
    }
    const numbers = [...steps.keys()]
    const shown = world.helpdesk.messages().flatMap(({ content }) => (content?.startsWith('from ') ? [content] : []))
    assert.deepEqual(
      shown,
      numbers.map((n) => `from ${n}`),
    )
    assert.deepEqual(
      world.texts(),
      numbers.map((n) => `to ${n}`),
    )
    // The last answer that is lost belongs to the commit that marks a message sent.
    await waitUntil('nothing waits', async () => (await world.outbox())['pending'] === 0)
  })
})
