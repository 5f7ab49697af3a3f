// Repairs with lost answers, an absent helpdesk, cancellations, kills and bad requests.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { SimHelpdesk } from '../../../sim/helpdesk/sim-helpdesk.ts'
import { assertRefused } from '../../harness/assertions.ts'
import { engines } from '../../harness/databases.ts'
import { fillChat } from '../../harness/other-bridges.ts'
import { ProcessWorld } from '../../harness/process-world.ts'
import { openTestConnection } from '../../harness/test-connection.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { World } from '../../harness/world.ts'
import { DeskClient } from '../../sim-helpdesk/harness/desk-client.ts'
import {
  askRepair,
  endOf,
  findingsOf,
  mergesIn,
  repair,
  repairOf,
  startRepair,
  stateOf,
  stating,
} from './harness/repairs.ts'

const phone = '5511988887777'
const short = '551188887777'
const listing = { method: 'GET', path: /\/contacts$/ } as const
const merging = { method: 'POST', path: /contact_merge/ } as const

/** Maria has written: her contact is known under the phone number that the network uses. Another bridge left a second one. */
async function twice(world: World | ProcessWorld) {
  const [account] = world.phones
  assert.ok(account)
  const maria = world.network.person({ phone, pushName: 'Maria' })
  const sent = maria.text(account, 'hello')
  const first = await world.helpdesk.waitForMessage(undefined, ({ sourceId }) => sourceId === sent.id, 60_000)
  const { contactId: drop } = fillChat(world.helpdesk, 'evolution', { phone: short, name: 'Maria' })
  return { maria, first, keep: first.sender?.id ?? 0, drop, account }
}

function contactIds({ see }: SimHelpdesk): number[] {
  return see.contacts().map(({ id }) => id)
}

const mergesAt = ({ requests }: SimHelpdesk) => requests.filter(({ path }) => merging.path.test(path))

describe('a merge whose answer is lost', () => {
  test('is not asked for again when it was made', async () => {
    await using world = await World.open()
    const { keep, drop } = await twice(world)
    await world.helpdesk.fault({ kind: 'cut', afterCommit: true, ...merging, times: 1 })
    assert.deepEqual(findingsOf(await repair(world)), [`${keep} ← ${drop}: mobile_variants, merged`])
    assert.deepEqual(contactIds(world.helpdesk), [keep])
    assert.equal(mergesAt(world.helpdesk).filter(({ status }) => status === 200).length, 0)
    assert.equal((await mergesIn(world)).length, 1)
  })

  test('is repeated when it was not made', async () => {
    await using world = await World.open({ lateCommitMs: 100 })
    const { keep, drop } = await twice(world)
    await world.helpdesk.fault({ kind: 'cut', ...merging, times: 1 })
    assert.deepEqual(findingsOf(await repair(world)), [`${keep} ← ${drop}: mobile_variants, merged`])
    assert.deepEqual(contactIds(world.helpdesk), [keep])
    assert.equal((await mergesIn(world)).length, 1)
  })

  test('is not repeated when an agent has changed a contact meanwhile', async () => {
    await using world = await World.open({ lateCommitMs: 100 })
    const { keep, drop } = await twice(world)
    const agent = new DeskClient(world.helpdesk)
    await agent.patch(`/contacts/${keep}`, { email: 'maria@x.test' })
    await world.helpdesk.fault({ kind: 'cut', ...merging, times: 1 })
    const id = await startRepair(world)
    await waitUntil('the merge was begun', async () => (await mergesIn(world)).length === 1)
    await agent.patch(`/contacts/${drop}`, { email: 'theirs@x.test' })
    const { result } = await endOf(world, id)
    assert.deepEqual(findingsOf(result ?? { listed: [] }), [`${keep} ← ${drop}: mobile_variants, different_emails`])
    assert.deepEqual(contactIds(world.helpdesk), [keep, drop])
  })

  test('is known as made when the helpdesk answers no question about it for a while', async () => {
    await using world = await World.open({ lateCommitMs: 100, environment: { DOWNSTREAM_TIMEOUT: '1s' } })
    const { keep, drop } = await twice(world)
    await world.helpdesk.fault({ kind: 'timeout', commit: 'at_once', ...merging, times: 1 })
    const id = await startRepair(world)
    await world.helpdesk.waitForHeldRequests()
    await world.helpdesk.fault({ kind: 'status', status: 503, method: 'GET', path: /\/contacts\/\d+$/, times: 3 })
    const { result } = await endOf(world, id)
    assert.deepEqual(findingsOf(result ?? { listed: [] }), [`${keep} ← ${drop}: mobile_variants, merged`])
  })
})

describe('a helpdesk', () => {
  test('that refuses a merge keeps both contacts, and the result says so', async () => {
    await using world = await World.open()
    const { keep, drop } = await twice(world)
    const body = { message: 'cannot be merged', attributes: [] }
    await world.helpdesk.fault({ kind: 'answer', status: 400, body, ...merging })
    const done = await repair(world)
    assert.deepEqual(findingsOf(done), [`${keep} ← ${drop}: mobile_variants, failed`])
    assert.deepEqual([done.merged, done.skipped, done.errors], [0, 0, 1])
    assert.deepEqual(contactIds(world.helpdesk), [keep, drop])
    await world.helpdesk.clearFaults()
    assert.equal((await repair(world)).merged, 1)
    assert.equal((await mergesIn(world)).length, 2, 'each repair has its own entry')
  })

  test('that refuses five merges in a row fails the job, which says why', async () => {
    const phones = Array.from({ length: 6 }, (_, index) => `551198888770${index}`)
    await using world = await World.open({ seed: stating(phones.map((each) => [each, null])) })
    for (const each of phones) {
      fillChat(world.helpdesk, 'evolution', { phone: each })
      fillChat(world.helpdesk, 'waha', { phone: each.replace(/^(55\d\d)9/, '$1') })
    }
    const body = { error: 'merging is switched off' }
    await world.helpdesk.fault({ kind: 'answer', status: 400, body, ...merging })
    const { status, error, result } = await endOf(world, await startRepair(world))
    assert.deepEqual([status, result], ['failed', null])
    assert.match(error ?? '', /^the helpdesk refuses the repair: /)
    assert.equal(world.helpdesk.see.contacts().length, 12)
    assert.equal(mergesAt(world.helpdesk).length, 5)
  })

  test('that is away is waited for', async () => {
    await using world = await World.open()
    const { keep } = await twice(world)
    await world.helpdesk.fault({ kind: 'status', status: 503, ...listing, times: 3 })
    const done = await repair(world)
    const refused = world.helpdesk.requests.filter(({ status }) => status === 503)
    assert.deepEqual([done.merged, refused.length], [1, 3])
    assert.deepEqual(contactIds(world.helpdesk), [keep])
    assert.deepEqual(world.helpdesk.faults, [], 'every failure has struck')
  })
})

describe('a contact that an agent changes between the list and the merge', () => {
  const changes: [string, object, string][] = [
    [
      'with another phone number',
      { phone_number: '+5511900000009', identifier: '5511900000009@s.whatsapp.net' },
      'changed',
    ],
    ['with another e-mail address', { email: 'theirs@x.test' }, 'different_emails'],
  ]
  for (const [name, change, outcome] of changes) {
    test(`${name} stays`, async () => {
      await using world = await World.open()
      const { keep, drop } = await twice(world)
      const agent = new DeskClient(world.helpdesk)
      await agent.patch(`/contacts/${keep}`, { email: 'maria@x.test' })
      // Held until the clock of the helpdesk moves.
      await world.helpdesk.fault({ kind: 'slow', ms: 12_000, method: 'GET', path: /\/contacts\/\d+$/, times: 1 })
      const id = await startRepair(world)
      await world.helpdesk.waitForHeldRequests()
      await agent.patch(`/contacts/${drop}`, change)
      await world.helpdesk.advance(12_000)
      const { result } = await endOf(world, id)
      assert.deepEqual(findingsOf(result ?? { listed: [] }), [`${keep} ← ${drop}: mobile_variants, ${outcome}`])
      assert.deepEqual(contactIds(world.helpdesk), [keep, drop])
      assert.deepEqual(await mergesIn(world), [])
    })
  }
})

test('a contact into which an agent merges another person between the list and the merge stays', async () => {
  await using world = await World.open()
  const { keep, drop } = await twice(world)
  const bob = world.network.person({ phone: '14155550102', pushName: 'Bob' })
  const { sender } = await world.arrived(bob.text(world.phone, 'hello'))
  await world.helpdesk.fault({ kind: 'slow', ms: 1_000, method: 'GET', path: /\/contacts\/\d+$/, times: 1 })
  const id = await startRepair(world)
  await world.helpdesk.waitForHeldRequests()
  const agent = new DeskClient(world.helpdesk)
  const merge = { base_contact_id: drop, mergee_contact_id: sender?.id }
  assert.equal((await agent.post('/actions/contact_merge', merge)).status, 200)
  const { result } = await endOf(world, id)
  assert.deepEqual(findingsOf(result ?? { listed: [] }), [`${keep} ← ${drop}: mobile_variants, changed`])
  assert.deepEqual(contactIds(world.helpdesk), [keep, drop])
  // The next repair does not know either for whom the contact stands.
  assert.equal((await repair(world)).pairs, 0)
})

describe('a repair', () => {
  test('that is cancelled ends at once, while the helpdesk does not answer', async () => {
    await using world = await World.open()
    await twice(world)
    await world.helpdesk.fault({ kind: 'slow', ms: 20_000, ...listing })
    const before = stateOf(world.helpdesk)
    const id = await startRepair(world)
    await world.helpdesk.waitForHeldRequests()
    const since = performance.now()
    const { status } = await world.service.request('DELETE', `/api/jobs/${id}`)
    assert.equal(status, 200)
    await world.helpdesk.clearFaults()
    // The next repair may begin when the one before has ended.
    const next = await startRepair(world, true)
    await waitUntil('the next one runs', async () => (await repairOf(world, next)).status !== 'pending')
    // A run that goes on waits 15 s for the answer of the helpdesk. A busy machine needs some seconds for the requests.
    assert.ok(performance.now() - since < 10_000, 'the run went on')
    assert.equal((await repairOf(world, id)).status, 'cancelled')
    assert.deepEqual(stateOf(world.helpdesk), before)
  })

  test('whose instance gets another helpdesk inbox fails, says so, and merges nothing in either inbox', async () => {
    await using world = await World.open()
    await twice(world)
    const { id: inbox } = world.helpdesk.world.addInbox({ name: 'Another' })
    await world.helpdesk.fault({ kind: 'slow', ms: 1_500, ...listing, times: 1 })
    const before = stateOf(world.helpdesk)
    const id = await startRepair(world)
    await world.helpdesk.waitForHeldRequests()
    const { status } = await world.service.request('PATCH', '/api/instances/n0', { body: { inbox_id: inbox } })
    assert.equal(status, 200)
    const ended = await endOf(world, id)
    assert.deepEqual([ended.status, ended.result], ['failed', null])
    assert.equal(ended.error, 'the instance has another helpdesk inbox now: start the repair again')
    assert.deepEqual(stateOf(world.helpdesk).contacts, before.contacts)
    assert.deepEqual(await mergesIn(world), [])
    assert.equal((await repair(world)).scanned, 0)
  })

  test('of a deleted instance ends, and nothing more is merged', async () => {
    await using world = await World.open()
    await twice(world)
    // Held until the clock of the helpdesk moves.
    await world.helpdesk.fault({ kind: 'slow', ms: 12_000, ...listing })
    const before = stateOf(world.helpdesk)
    const id = await startRepair(world)
    await world.helpdesk.waitForHeldRequests()
    const { status } = await world.service.request('DELETE', '/api/instances/n0')
    assert.ok(status < 300)
    assert.equal((await world.service.get(`/api/jobs/${id}`)).status, 404)
    await world.helpdesk.advance(12_000)
    await world.helpdesk.settled()
    assert.deepEqual(stateOf(world.helpdesk).contacts, before.contacts)
  })

  test('while one runs is refused and names it', async () => {
    await using world = await World.open()
    // Held until the clock of the helpdesk moves.
    await world.helpdesk.fault({ kind: 'slow', ms: 12_000, ...listing, times: 1 })
    const id = await startRepair(world)
    await world.helpdesk.waitForHeldRequests()
    const { status, body } = await askRepair(world)
    const { error, error_code: code } = body as { error: string; error_code: string }
    assert.deepEqual([status, code], [409, 'SERVICE_JOB_RUNNING'])
    assert.match(error, new RegExp(id))
    await world.helpdesk.waitForHeldRequests()
    await world.helpdesk.advance(12_000)
    await endOf(world, id)
  })

  test('needs an instance, a helpdesk and true or false', async () => {
    await using world = await World.open()
    const refused = async (body: unknown, instance = 'n0') => {
      const answer = await askRepair(world, body, instance)
      return [answer.status, (answer.body as { error_code: string }).error_code]
    }
    assert.deepEqual(await refused({}, 'nobody'), [404, 'SERVICE_INSTANCE_NOT_FOUND'])
    for (const body of [{ dry_run: 'no' }, { dry_run: null }, { dry_run: 0 }, { dry_run: [true] }, [], 'true', 7]) {
      assert.deepEqual(await refused(body), [400, 'SERVICE_BAD_REQUEST'], JSON.stringify(body))
    }
    // A wrong name must not become a dry run that looks like a repair.
    assertRefused(
      await askRepair(world, { dryrun: false }),
      'SERVICE_BAD_REQUEST',
      /unknown field "dryrun"; it takes: dry_run$/,
    )
    assertRefused(await askRepair(world, { ['x'.repeat(100_000)]: 1 }), 'SERVICE_BAD_REQUEST', /^.{0,150}$/)
    assert.equal(((await world.service.get('/api/jobs')).body as unknown[]).length, 0)
    const { status } = await askRepair(world)
    assert.equal(status, 202)
  })

  test('without a helpdesk is refused', async () => {
    await using world = await World.unlinked({ environment: { DOWNSTREAM_BASE_URL: '' } })
    await world.service.request('POST', '/api/instances', { body: { name: 'bare' } })
    const { status, body } = await askRepair(world, {}, 'bare')
    assert.deepEqual([status, (body as { error_code: string }).error_code], [409, 'SERVICE_NO_HELPDESK'])
  })

  test('of an account that is not connected works with what the network has stated before', async () => {
    await using world = await World.open()
    const { keep, drop, account } = await twice(world)
    account.unlink()
    await world.reaches('n0', 'logged_out')
    assert.deepEqual(findingsOf(await repair(world)), [`${keep} ← ${drop}: mobile_variants, merged`])
  })
})

test('contacts that an agent merged by hand: the next message and the next repair follow the agent', async () => {
  await using world = await World.open()
  const { maria, first, keep, drop, account } = await twice(world)
  const merge = { base_contact_id: drop, mergee_contact_id: keep }
  assert.equal((await new DeskClient(world.helpdesk).post('/actions/contact_merge', merge)).status, 200)
  assert.equal((await repair(world)).pairs, 0)
  const rows = await world.service.database.read(world.service.database.query.selectFrom('contacts').selectAll())
  assert.deepEqual([...new Set(rows.map(({ contact_id }) => contact_id))], [drop])
  const next = await world.arrived(maria.text(account, 'again'))
  assert.deepEqual([next.conversationId, next.sender?.id], [first.conversationId, drop])
})

describe('a service killed during a merge', { concurrency: true }, () => {
  for (const engine of engines) {
    for (const commit of ['at_once', 'never'] as const) {
      const when = commit === 'at_once' ? 'after the helpdesk has merged' : 'before the helpdesk has merged'
      test(`${when}, on ${engine}: the next process merges once, and our rows name the contact that stays`, async () => {
        await using world = await ProcessWorld.open({ engine })
        const { maria, first, keep, drop, account } = await twice(world)
        // The contact that the service uses is the one that goes: the other one is in another inbox.
        const { helpdesk } = world
        const { id: mail } = helpdesk.world.addInbox({ name: 'Mail' })
        await new DeskClient(helpdesk).post(`/contacts/${drop}/contact_inboxes`, { inbox_id: mail, source_id: 'mail' })
        await helpdesk.fault({ kind: 'timeout', commit, ...merging, times: 1 })
        const id = await startRepair(world)
        await helpdesk.waitForHeldRequests()
        await world.kill()
        const { status, result } = await endOf(world, id)
        assert.equal(status, 'completed')
        assert.deepEqual(findingsOf(result ?? { listed: [] }), [`${drop} ← ${keep}: mobile_variants, merged`])
        assert.deepEqual([result?.scanned, result?.pairs, result?.merged], [2, 1, 1])
        assert.deepEqual(contactIds(helpdesk), [drop])
        assert.equal((await mergesIn(world)).length, 1)
        await using database = await openTestConnection(world.place.location)
        const rows = await database.read(database.query.selectFrom('conversations').select('contact_id'))
        assert.deepEqual(rows, [{ contact_id: drop }])
        const next = maria.text(account, 'again')
        const arrived = await helpdesk.waitForMessage(undefined, ({ sourceId }) => sourceId === next.id, 60_000)
        assert.deepEqual([arrived.conversationId, arrived.sender?.id], [first.conversationId, drop])
        assert.notEqual(keep, drop)
      })
    }
  }
})
