// What a take-over leaves alone, what interrupts it, and what is true without one.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { assertRefused } from '../../harness/assertions.ts'
import { drawnEngines } from '../../harness/drawn-engine.ts'
import { LeapingClock } from '../../harness/leaping-clock.ts'
import { fillMany } from '../../harness/other-bridges.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { AdoptWorld, bobsLid, bobsPhone } from './harness/adopt-world.ts'

const hello = [{ id: '3EB0OLD1', text: 'hello' }]

describe('without a take-over', () => {
  for (const bridge of ['evolution', 'waha'] as const) {
    test(`a person whom ${bridge} brought is found by identifier or phone, but an older message cannot be quoted`, async () => {
      await using world = await AdoptWorld.with(bridge)
      const bob = world.fill({ phone: bobsPhone, conversations: [{ messages: hello }] })
      const message = await world.arrived(world.quoting('again', '3EB0OLD1'))
      assert.equal(message.conversationId, bob.conversations[0])
      assert.equal(message.contentAttributes['in_reply_to'] ?? null, null)
      assert.equal(world.helpdesk.see.contacts().length, 1)
    })
  }

  test('a person whom gowa brought gets a second conversation, because its address is not one that agents make', async () => {
    await using world = await AdoptWorld.with('gowa')
    const bob = world.fill({ phone: bobsPhone, conversations: [{ messages: hello }] })
    const message = await world.arrived(world.quoting('again', '3EB0OLD1'))
    assert.notEqual(message.conversationId, bob.conversations[0])
    assert.equal(world.helpdesk.see.contacts().length, 1)
    assert.equal(world.helpdesk.see.conversations().length, 2)
  })
})

for (const engine of drawnEngines(import.meta.url)) {
  describe(`a take-over on ${engine}`, () => {
    test('leaves contacts alone that the bridge did not make, and those of channels', async () => {
      await using world = await AdoptWorld.with('waha', { engine })
      const { helpdesk } = world
      const made = helpdesk.world.addContact({ name: 'Of an agent', phoneNumber: '+5511977770001' })
      helpdesk.world.addConversation({ contactId: made.id })
      const address = '120363000000000009@newsletter'
      const attributes = { waha_whatsapp_chat_id: address }
      const channel = helpdesk.world.addContact({ name: 'News', identifier: address, customAttributes: attributes })
      helpdesk.world.addConversation({ contactId: channel.id })
      const before = world.seen()
      const result = await world.adopt()
      assert.deepEqual([result['scanned'], result['unmarked'], result['unknown'], result['adopted']], [2, 1, 1, 0])
      assert.deepEqual(world.seen(), before)
      assert.deepEqual((await world.stored()).flat(), [])
    })

    test('of two contacts of one person the one with the newest open conversation is used', async () => {
      await using world = await AdoptWorld.with('evolution', { engine })
      const open = world.fill({ phone: '5511988880001', conversations: [{ status: 'open' }] })
      world.fill({ phone: '551188880001', conversations: [{ status: 'resolved' }] })
      const found = await world.adopt({ dry: true })
      assert.deepEqual([found['adopted'], found['doubled']], [1, 1])
      const result = await world.adopt()
      assert.deepEqual([result['adopted'], result['doubled']], [1, 1])
      const maria = world.network.person({ phone: '5511988880001', pushName: 'Maria' })
      assert.equal((await world.arrived(maria.text(world.phone, 'hi'))).conversationId, open.conversations[0])
      assert.equal((await world.adopt())['doubled'], 1)
    })

    test('a resolved conversation is used again only in the mode that reopens conversations', async () => {
      for (const mode of ['new', 'reopen']) {
        await using world = await AdoptWorld.with('gowa', { engine, environment: { SERVICE_CONVERSATION_MODE: mode } })
        const conversations = [{ status: 'resolved' as const, messages: hello }]
        const bob = world.fill({ phone: bobsPhone, conversations })
        const result = await world.adopt()
        assert.deepEqual([result['conversations'], result['messages']], [mode === 'reopen' ? 1 : 0, 1])
        const { conversationId } = await world.arrived(world.bob.text(world.phone, 'again'))
        assert.equal(conversationId === bob.conversations[0], mode === 'reopen')
      }
    })

    test('a name that is only an address follows the person; any other name stays', async () => {
      await using world = await AdoptWorld.with('evolution', { engine })
      const bob = world.fill({ phone: bobsPhone })
      const ann = world.fill({ phone: '5511977770002', name: 'Ann (VIP)' })
      await world.adopt()
      const nameOf = (id: number) => world.helpdesk.see.contacts().find((each) => each.id === id)?.name
      assert.equal(nameOf(bob.contactId), bobsPhone)
      await world.arrived(world.bob.text(world.phone, 'hi'))
      const person = world.network.person({ phone: '5511977770002', pushName: 'Annie' })
      await world.arrived(person.text(world.phone, 'hi'))
      await waitUntil('the name has followed', () => nameOf(bob.contactId) === 'Bob')
      assert.equal(nameOf(ann.contactId), 'Ann (VIP)')
    })

    test('a conversation that a live message has opened before stays the one of its chat', async () => {
      await using world = await AdoptWorld.with('gowa', { engine })
      world.fill({ phone: bobsPhone, conversations: [{ messages: hello }] })
      const live = await world.arrived(world.bob.text(world.phone, 'I write before'))
      await world.drained()
      const [, , before] = await world.stored()
      const result = await world.adopt()
      assert.deepEqual([result['adopted'], result['messages'], result['errors']], [1, 1, 0])
      const [, , after] = await world.stored()
      assert.deepEqual(after, before)
      const next = await world.arrived(world.bob.text(world.phone, 'and after'))
      assert.equal(next.conversationId, live.conversationId)
    })

    test('a message that the message map knows stays as it is', async () => {
      await using world = await AdoptWorld.with('evolution', { engine })
      const sent = world.bob.text(world.phone, 'first')
      const { conversationId } = await world.arrived(sent)
      await world.drained()
      const [, , , , before] = await world.stored()
      const again = { content: 'first', messageType: 'incoming', sourceId: `WAID:${sent.id}` }
      world.helpdesk.world.addMessage(conversationId, again)
      assert.equal((await world.adopt())['messages'], 0)
      const [, , , , after] = await world.stored()
      assert.deepEqual(after, before)
    })

    test('phone and anonymous id that WAHA names together lead to one person', async () => {
      await using world = await AdoptWorld.with('waha', { engine })
      const bob = world.fill({ phone: bobsPhone, lid: bobsLid, name: 'Bob' })
      await world.adopt()
      const people = (await world.stored())[0] as { phone: string; lid: string }[]
      assert.deepEqual(
        people.map(({ phone, lid }) => [phone, lid]),
        [[bobsPhone, bobsLid]],
      )
      const { conversationId } = await world.arrived(world.bob.text(world.phone, 'hi'))
      assert.equal(conversationId, bob.conversations[0])
    })

    test('a job that is cancelled stops, and the next one completes it', async () => {
      await using world = await AdoptWorld.with('evolution', { engine })
      fillMany(world.helpdesk, 'evolution', 60)
      const { body } = await world.start({ dry_run: false })
      const id = (body as { job_id: string }).job_id
      const contacts = async () => ((await world.stored())[1] as unknown[]).length
      await waitUntil('some contacts are taken over', async () => (await contacts()) >= 3)
      assertRefused(await world.start(), 'SERVICE_JOB_RUNNING', new RegExp(id))
      const cancelled = await world.service.request('DELETE', `/api/jobs/${id}`)
      assert.equal(cancelled.status, 200)
      // A dry run takes nothing over, and begins when the cancelled run has ended.
      await world.adopt({ dry: true })
      const left = await contacts()
      assert.ok(left < 60, `${left} are taken over`)
      await world.adopt()
      assert.equal(await contacts(), 60)
    })

    test('a job goes on after a restart of the service, and while the helpdesk is away', async () => {
      const clock = new LeapingClock()
      await using world = await AdoptWorld.with('gowa', { engine, clock })
      fillMany(world.helpdesk, 'gowa', 12)
      const { body } = await world.start({ dry_run: false })
      const id = (body as { job_id: string }).job_id
      const contacts = async () => ((await world.stored())[1] as unknown[]).length
      await waitUntil('some contacts are taken over', async () => (await contacts()) >= 2)
      await world.restart()
      await world.helpdesk.restart(500)
      const isOver = async () => {
        await clock.advance(1000)
        return (await world.job(id)).status === 'completed'
      }
      await waitUntil('the job has ended', isOver)
      const { result } = await world.job(id)
      assert.deepEqual([result?.['errors'], await contacts()], [0, 12])
      const mapped = (await world.stored())[4] as unknown[]
      assert.equal(mapped.length, 24)
    })
  })
}

test('bad input is refused and starts nothing', async () => {
  await using world = await AdoptWorld.with('evolution')
  assertRefused(await world.start({}, 'nobody'), 'SERVICE_INSTANCE_NOT_FOUND', /nobody/)
  const wrong = [
    { from: 'baileys' },
    { from: 7 },
    { from: null },
    { from: ['evolution'] },
    { dry_run: 'yes' },
    { dry_run: null },
    { from: 'x'.repeat(100_000) },
    { more: true },
  ]
  for (const body of wrong) assertRefused(await world.start(body), 'SERVICE_BAD_REQUEST')
  assertRefused(await world.command('/n0/adopt', {}), 'SERVICE_BAD_REQUEST', /from/)
  assertRefused(await world.command('/n0/adopt', []), 'SERVICE_BAD_REQUEST')
  assertRefused(await world.command('/n0/adopt'), 'SERVICE_BAD_REQUEST')
  assert.deepEqual((await world.service.get('/api/jobs')).body, [])
})

test('an instance without a helpdesk inbox is refused', async () => {
  await using world = await AdoptWorld.with('evolution', { environment: { DOWNSTREAM_INBOX_ID: '' } })
  assertRefused(await world.start(), 'SERVICE_NO_HELPDESK', /no helpdesk inbox is configured/)
})
