// A service in use: accounts in several states, messages that wait and were set aside, a tenant, a job, counts of weeks.

import assert from 'node:assert/strict'
import type { Database } from '../../../../src/storage/database.ts'
import { sampleInstanceColumns } from '../../../harness/samples.ts'
import { SetupWorld } from '../../../harness/setup-world.ts'
import { waitUntil } from '../../../harness/wait-until.ts'

const hour = 3_600_000
const day = 24 * hour
const sales = '5511999990001'
const support = '5511999990002'

/** What happened before this test: an account that was logged out, and a month of messages. */
async function seed(database: Database): Promise<void> {
  const now = Date.now()
  const lost = sampleInstanceColumns('old-shop', {
    state: 'logged_out',
    lastError: 'the phone removed this linked device',
  })
  await database.write(database.query.insertInto('instances').values(lost))
  for (let ago = 1; ago < 30; ago++) {
    const own = { day: new Date(now - ago * day).toISOString().slice(0, 10), owner_tag: '', instance: 'sales' }
    const counts = { messages_in: 40 + ((ago * 37) % 60), messages_out: 30 + ((ago * 23) % 50) }
    const others = { spamguard_blocks: 0, lifecycle_events: 1 }
    await database.write(database.query.insertInto('usage').values({ ...own, ...counts, ...others }))
  }
}

/** A day with a lost connection. It is stored after the instance: a new one begins without a past. */
async function seedStates(database: Database): Promise<void> {
  const now = Date.now()
  const states = [
    [23, 'ready'],
    [9, 'disconnected'],
    [8.5, 'connecting'],
    [8.4, 'ready'],
  ] as const
  // The service takes the order of the changes from their ids.
  for (const [index, [hours, state]] of states.entries()) {
    const change = { id: `${index}`, instance: 'sales', at: now - hours * hour, state, reason: '' }
    await database.write(database.query.insertInto('state_changes').values(change))
  }
}

/** `sales` and `support` are linked, `returns` shows its QR code, and messages to `support` were set aside. */
export async function openLivedInWorld(): Promise<SetupWorld> {
  await using stack = new AsyncDisposableStack()
  const world = stack.use(await SetupWorld.open({ seed, network: { qrRefs: 100 } }))
  const phones = [
    await world.pair('sales', sales, { inbox: true }),
    await world.pair('support', support, { inbox: true }),
  ] as const
  assert.equal((await world.create({ name: 'returns', inbox: true })).status, 201)
  const bob = world.network.person({ phone: '5511888880001', pushName: 'Bob' })
  const { conversationId } = await world.arrived(bob.text(phones[0], 'Is my bike ready?'))
  const answer = { content: 'Yes, come and get it.', message_type: 'outgoing' }
  await world.desk.post(`/conversations/${conversationId}/messages`, answer)
  await waitUntil('Bob has the answer', () => bob.messages.entries.some(({ own }) => !own))
  await world.helpdesk.fault({ kind: 'status', status: 400, method: 'POST', path: /\/messages$/, times: 4 })
  for (const text of ['one', 'two']) bob.text(phones[1], text)
  await waitUntil('two messages are set aside', async () => (await world.health()).checks.inbox_parked === 2)
  const tenant = { downstream_base_url: world.helpdesk.url, downstream_api_token: world.helpdesk.facts.api_token }
  await world.service.request('PUT', '/api/tenants/acme', { body: tenant })
  await world.command('/sales/contacts/repair?dry_run=true')
  await seedStates(world.service.database)
  stack.move()
  return world
}
