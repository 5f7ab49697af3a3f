// The service of today starts on a database that release 0.65.0 wrote: the account is still linked, and what waited passes.

import '../../sim/harness/quiet.ts'
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { calm } from '../../../sim/helpdesk/settings.ts'
import { SimHelpdesk } from '../../../sim/helpdesk/sim-helpdesk.ts'
import { textOfMessage } from '../../../sim/network/people/received-message.ts'
import { SimNetwork } from '../../../sim/network/sim-network.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import type { EngineName } from '../../../src/storage/database.ts'
import { engines } from '../../harness/databases.ts'
import { destinationSettings } from '../../harness/destination.ts'
import { releaseDatabase, releaseKey } from '../../harness/release-database.ts'
import type { ReleaseFile } from '../../harness/release-database.ts'
import { Service } from '../../harness/service.ts'
import { signatureOf } from '../../harness/signed-callback.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { DeskClient, openChat } from '../../sim-helpdesk/harness/desk-client.ts'

/** A minute after the release ended. Much later, its rows would expire and be pruned. */
const startsAt = 1_794_886_280_000
const ageMs = Date.now() - startsAt
const clock = { ...systemClock, now: () => Date.now() - ageMs }

type Case = { engine: EngineName; file: ReleaseFile }

const cases: Case[] = [
  { engine: 'sqlite', file: 'plain' },
  { engine: 'sqlite', file: 'encrypted' },
  { engine: 'postgres', file: 'plain' },
]

/** With `keepsHelpdesk` the helpdesk is the one of the release and has its conversations; else it is a new one. */
async function openUpgraded({ engine, file }: Case, { keepsHelpdesk = false } = {}) {
  await using stack = new AsyncDisposableStack()
  // The simulator derives all keys from its seed, so this account has the device that the release had linked.
  const network = stack.use(await SimNetwork.start())
  const phone = network.account({ phone: '5511910000000' })
  network.linkReady(phone)
  const helpdesk = stack.use(await SimHelpdesk.start({ quirks: calm }))
  const helpdeskUrl = keepsHelpdesk ? helpdesk.facts.url : undefined
  const place = stack.use(await releaseDatabase(engine, file, { helpdeskUrl }))
  const desk = new DeskClient(helpdesk)
  if (keepsHelpdesk) for (const last of [1, 9, 2]) await openChat(desk, `551188888000${last}`)
  const person = (last: number) =>
    network.person({ phone: `551188888000${last}`, lid: `20000000000000${last}`, pushName: `Person ${last}` })
  const people = { carol: person(2), waitsForUs: person(3), isNew: person(4) }
  const environment = {
    ...destinationSettings(helpdesk),
    SERVICE_ENCRYPTION_KEY: file === 'encrypted' ? releaseKey : '',
  }
  const service = stack.use(await Service.start({ engine, place, network, environment, clock }))
  const owned = stack.move()
  return { service, network, phone, helpdesk, people, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

describe('upgrade from 0.65.0', () => {
  for (const each of cases.filter(({ engine }) => engines.includes(engine))) {
    test(`what waited in the ${each.file} database passes, on ${each.engine}`, async () => {
      await using world = await openUpgraded(each)
      const { service, helpdesk, phone, people } = world
      const bodyOf = async (path: string) => (await service.get(path)).body
      await waitUntil('the account logs in with its old session', async () => {
        return ((await bodyOf('/api/instances/n0')) as { state: string }).state === 'ready'
      })

      const texts = () => helpdesk.messages().map(({ content }) => content)
      await waitUntil('the three received messages are delivered', () => texts().length >= 3, { instead: texts })
      assert.deepEqual(texts(), ['waiting one', 'waiting two', 'waiting three'])
      await people.waitsForUs.messages.waitFor(
        'the outgoing message',
        ({ message }) => textOfMessage(message) === 'waiting for the network',
        60_000,
      )

      const { parked } = (await bodyOf('/api/instances/n0/parked')) as { parked: { kind: string; error: string }[] }
      assert.deepEqual(
        parked.map(({ kind }) => kind),
        ['message'],
      )
      await service.request('POST', '/api/instances/n0/parked/retry')
      await waitUntil('the parked message is delivered', () => texts().includes('refused by the helpdesk'))

      people.isNew.text(phone, 'after the upgrade')
      await waitUntil('a new message is delivered', () => texts().includes('after the upgrade'), { instead: texts })
      assert.equal(texts().length, 5, 'nothing is doubled')
    })
  }

  for (const each of cases.filter(({ engine, file }) => file === 'plain' && engines.includes(engine))) {
    test(`the conversations and callbacks of the release are known, on ${each.engine}`, async () => {
      await using world = await openUpgraded(each, { keepsHelpdesk: true })
      const { service, helpdesk, people } = world
      await waitUntil('the account is online', async () => {
        return ((await service.get('/api/instances/n0')).body as { state: string }).state === 'ready'
      })
      const post = async (id: number, content: string) => {
        const conversation = { id: 3, inbox_id: 1, meta: { sender: { identifier: null, phone_number: null } } }
        const message = { id, content, message_type: 'outgoing', private: false, inbox: { id: 1 }, conversation }
        const body = JSON.stringify({ event: 'message_created', account: { id: 1 }, ...message })
        const headers = signatureOf(body, helpdesk.facts.webhook_secret)
        return service.request('POST', '/api/instances/n0/webhook', { token: null, body, headers })
      }
      const again = await post(6, 'sent by the release')
      assert.equal((again.body as { reason?: string }).reason, 'duplicate', again.text)
      // Only the conversation says to whom it goes. No message of Carol is delivered here, so the release stored it.
      const answer = await post(8000, 'an answer in an old conversation')
      assert.equal(answer.status, 200, answer.text)
      const texts = () => people.carol.messages.entries.map(({ message }) => textOfMessage(message))
      await waitUntil('Carol has the answer', () => texts().length > 0)
      assert.deepEqual(texts(), ['an answer in an old conversation'])
    })
  }

  test('the records of the release are readable: tenants, usage, audit and the outbox', async () => {
    await using world = await openUpgraded({ engine: 'sqlite', file: 'encrypted' })
    const { service } = world
    const bodyOf = async (path: string) => (await service.get(path)).body
    const tenant = (await bodyOf('/api/tenants/acme')) as { downstream_inbox_id: number }
    assert.equal(tenant.downstream_inbox_id, 1)
    const usage = JSON.stringify(await bodyOf('/api/instances/n0/usage?from=2026-11-17&to=2026-11-17'))
    assert.match(usage, /"messages_out":[23]/)
    await waitUntil('the outbox counts the two messages of the release and the one that waited', async () => {
      return ((await bodyOf('/api/instances/n0/outbox')) as { sent: number }).sent === 3
    })
    const audit = JSON.stringify(await bodyOf('/api/audit'))
    assert.match(audit, /"tenant\.upsert"/)
    assert.match(audit, /"0\.65\.0"/)
    const health = (await bodyOf('/api/health')) as { status: string }
    assert.notEqual(health.status, 'down')
  })
})
