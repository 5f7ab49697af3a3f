// Contacts that are one person become one contact, and the next message goes on in its conversation.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Database } from '../../../src/storage/database.ts'
import { fillChat, fillOwnContact } from '../../harness/other-bridges.ts'
import { engines } from '../../harness/databases.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { World } from '../../harness/world.ts'
import { DeskClient } from '../../sim-helpdesk/harness/desk-client.ts'
import { endOf, findingsOf, mergesIn, repair, repairOf, startRepair, stateOf, stating } from './harness/repairs.ts'

const phone = '5511988887777'
const short = '551188887777'
const lid = '99887766554433'

for (const engine of engines) {
  describe(`a repair on ${engine}`, () => {
    test('lists pairs in a dry run and changes nothing, then merges them; a second run changes nothing', async () => {
      await using world = await World.open({ engine })
      const { helpdesk, network } = world
      const maria = network.person({ phone, lid, pushName: 'Maria' })
      const first = await world.arrived(maria.text(world.phone, 'hello'))
      const group = network.person({ phone: '5511900000001', pushName: 'Bob' })
      await world.arrived(group.text(world.phone, 'another person'))
      await world.drained()
      const [ours] = helpdesk.see.contacts()
      assert.ok(ours)
      const byLid = fillChat(helpdesk, 'evolution', { lid, name: 'Maria of before' })
      const byShort = fillChat(helpdesk, 'waha', { phone: short, name: 'Maria' })
      fillOwnContact(helpdesk, 'evolution')
      const before = stateOf(helpdesk)
      const found = await repair(world, true)
      assert.deepEqual(findingsOf(found), [
        `${ours.id} ← ${byLid.contactId}: phone_and_lid, would_merge`,
        `${ours.id} ← ${byShort.contactId}: mobile_variants, would_merge`,
      ])
      assert.deepEqual([found.scanned, found.pairs, found.merged, found.skipped], [5, 2, 0, 0])
      assert.deepEqual(stateOf(helpdesk), before)
      assert.deepEqual(await mergesIn(world), [])

      const job = await startRepair(world)
      const { result: done } = await endOf(world, job)
      assert.ok(done)
      assert.deepEqual([done.pairs, done.merged, done.skipped, done.errors], [2, 2, 0, 0])
      const contacts = helpdesk.see.contacts()
      assert.equal(contacts.length, 3)
      const [merged] = contacts.filter(({ id }) => id === ours.id)
      assert.deepEqual([merged?.name, merged?.phoneNumber, merged?.addresses.length], ['Maria', `+${phone}`, 3])
      assert.deepEqual(
        helpdesk.see
          .conversations(({ contactId }) => contactId === ours.id)
          .map(({ id }) => id)
          .toSorted(),
        [first.conversationId, ...byLid.conversations, ...byShort.conversations].toSorted(),
      )
      assert.deepEqual(
        (await mergesIn(world)).map(({ actor, target, metadata }) => [actor, target, metadata]),
        [
          ['api', String(ours.id), { merged: byLid.contactId, reason: 'phone_and_lid', job }],
          ['api', String(ours.id), { merged: byShort.contactId, reason: 'mobile_variants', job }],
        ],
      )

      const after = stateOf(helpdesk)
      assert.deepEqual(await repair(world), { scanned: 3, pairs: 0, merged: 0, skipped: 0, errors: 0, listed: [] })
      assert.deepEqual(stateOf(helpdesk), after)
      const next = await world.arrived(maria.text(world.phone, 'and again'))
      assert.equal(next.conversationId, first.conversationId)
      assert.equal(helpdesk.see.contacts().length, 3)
      helpdesk.assertNothingRefused()
    })

    test('the contact that the service uses stays, takes the phone number, and its conversation goes on', async () => {
      await using world = await World.open({ engine })
      const { helpdesk, network } = world
      const maria = network.person({ phone, lid, pushName: 'Maria', hidesPhone: true, hidesLid: true })
      const first = await world.arrived(maria.text(world.phone, 'who am I', { addressing: 'lid' }))
      await world.drained()
      const [ours] = helpdesk.see.contacts()
      const theirs = fillChat(helpdesk, 'gowa', { phone, lid, name: 'Maria' })
      // gowa names only the phone number: the network must state the pair.
      assert.equal((await repair(world, true)).pairs, 0)
      Object.assign(maria.user, { hidesPhone: false, hidesLid: false })
      await world.service.database.write(
        world.service.database.query.updateTable('people').set({ phone }).where('lid', '=', lid),
      )
      const done = await repair(world)
      assert.deepEqual(findingsOf(done), [`${ours?.id} ← ${theirs.contactId}: phone_and_lid, merged`])
      const [merged, ...others] = helpdesk.see.contacts()
      assert.equal(others.length, 0)
      assert.deepEqual([merged?.phoneNumber, merged?.identifier], [`+${phone}`, `${phone}@s.whatsapp.net`])
      const next = await world.arrived(maria.text(world.phone, 'it is me', { addressing: 'pn' }))
      assert.deepEqual([next.conversationId, next.sender?.id], [first.conversationId, ours?.id])
      helpdesk.assertNothingRefused()
    })

    test('contacts that agents treat differently, of other inboxes or of two accounts stay as they are', async () => {
      const seed = stating([
        [phone, lid],
        [short, null],
      ])
      await using world = await World.open({ engine, seed })
      const { helpdesk } = world
      const place = (fields: Parameters<typeof helpdesk.world.addContact>[0]) => helpdesk.world.addContact(fields).id
      const one = place({ name: 'Maria', phoneNumber: `+${phone}`, identifier: `${phone}@s.whatsapp.net` })
      const other = place({ name: 'Mary', phoneNumber: `+${short}`, identifier: `${short}@s.whatsapp.net` })
      const anonymous = place({ name: 'Anon', identifier: `${lid}@lid`, email: 'anon@x.test' })
      await new DeskClient(helpdesk).patch(`/contacts/${one}`, { email: 'maria@x.test' })
      const before = stateOf(helpdesk)
      const done = await repair(world)
      assert.deepEqual(findingsOf(done), [
        `${one} ← ${other}: mobile_variants, two_accounts`,
        `${one} ← ${anonymous}: phone_and_lid, different_emails`,
      ])
      assert.deepEqual([done.pairs, done.merged, done.skipped], [2, 0, 2])
      assert.deepEqual(stateOf(helpdesk), before)
      assert.deepEqual(await mergesIn(world), [])
    })
  })
}

test('two accounts that share a helpdesk inbox go on in their own conversations with the contact that stays', async () => {
  await using world = await World.open({ accounts: 2, seed: stating([[phone, null]]) })
  const { helpdesk, network } = world
  const old = fillChat(helpdesk, 'evolution', { phone: short, name: 'Maria' })
  const maria = network.person({ phone, pushName: 'Maria' })
  const [one, two] = world.phones
  assert.ok(one && two)
  const first = await world.arrived(maria.text(one, 'to one'))
  const second = await world.arrived(maria.text(two, 'to two'))
  await world.drained()
  const { id: inbox } = helpdesk.world.addInbox({ name: 'Mail' })
  const { id: keep } = helpdesk.world.addContact({ name: 'Maria', phoneNumber: `+${phone}` })
  await new DeskClient(helpdesk).post(`/contacts/${keep}/contact_inboxes`, { inbox_id: inbox, source_id: 'mail-1' })
  assert.deepEqual(findingsOf(await repair(world)), [`${keep} ← ${old.contactId}: mobile_variants, merged`])
  const rows = await world.service.database.read(
    world.service.database.query.selectFrom('conversations').select(['instance', 'contact_id']).orderBy('instance'),
  )
  assert.deepEqual(rows, [
    { instance: 'n0', contact_id: keep },
    { instance: 'n1', contact_id: keep },
  ])
  const third = await world.arrived(maria.text(one, 'to one again'))
  const fourth = await world.arrived(maria.text(two, 'to two again'))
  assert.deepEqual([third.conversationId, fourth.conversationId], [first.conversationId, second.conversationId])
  assert.deepEqual([third.sender?.id, fourth.sender?.id], [keep, keep])
  helpdesk.assertNothingRefused()
})

describe('while contacts are being merged', () => {
  test('a message of the person waits and is not lost with the contact', async () => {
    await using world = await World.open({ seed: stating([[phone, null]]) })
    const { helpdesk, network } = world
    const old = fillChat(helpdesk, 'evolution', { phone: short, name: 'Maria' })
    const maria = network.person({ phone, lid, pushName: 'Maria' })
    // The service finds the contact with the other spelling and goes on in its conversation.
    const first = await world.arrived(maria.text(world.phone, 'before'))
    assert.equal(first.sender?.id, old.contactId)
    await world.drained()
    // An agent makes the contact that must stay, because another inbox uses it.
    const { id: inbox } = helpdesk.world.addInbox({ name: 'Mail' })
    const { id: keep } = helpdesk.world.addContact({ name: 'Maria', phoneNumber: `+${phone}` })
    await new DeskClient(helpdesk).post(`/contacts/${keep}/contact_inboxes`, { inbox_id: inbox, source_id: 'mail-1' })
    helpdesk.configure({ mergeMs: 1_500 })
    const id = await startRepair(world)
    const written = [maria.text(world.phone, 'message 0')]
    const isOver = async () => {
      const isThere = helpdesk.see.messages().some(({ sourceId }) => sourceId === written.at(-1)?.id)
      if (isThere) written.push(maria.text(world.phone, `message ${written.length}`))
      return (await repairOf(world, id)).status === 'completed'
    }
    await waitUntil('the repair is over', isOver)
    assert.deepEqual(findingsOf((await repairOf(world, id)).result ?? { listed: [] }), [
      `${keep} ← ${old.contactId}: mobile_variants, merged`,
    ])
    for (const message of written) {
      const { conversationId, sender } = await world.arrived(message)
      assert.deepEqual([conversationId, sender?.id], [first.conversationId, keep])
    }
    const last = await world.arrived(maria.text(world.phone, 'after'))
    assert.equal(last.conversationId, first.conversationId)
    helpdesk.assertNothingRefused()
  })

  test('a repair of another account does not remove the contact that stays', async () => {
    const seed = async (database: Database) => {
      await stating([[phone, null]])(database)
      await stating([[short, null]], 'n1')(database)
    }
    await using world = await World.open({ accounts: 2, seed })
    const { helpdesk } = world
    const one = fillChat(helpdesk, 'evolution', { phone, name: 'Maria' })
    const other = fillChat(helpdesk, 'evolution', { phone: short, name: 'Maria' })
    const before = stateOf(helpdesk)
    helpdesk.configure({ mergeMs: 1_500 })
    // Each account knows another spelling, so each of them would keep another contact.
    const results = await Promise.all([repair(world), repair(world, false, 'n1')])
    assert.deepEqual(results.flatMap(({ listed }) => listed.map(({ outcome }) => outcome)).toSorted(), [
      'changed',
      'merged',
    ])
    const { contacts, conversations, messages } = stateOf(helpdesk)
    assert.equal(contacts.length, 1)
    assert.deepEqual(conversations.map(({ id }) => id).toSorted(), [...one.conversations, ...other.conversations])
    assert.equal(messages.length, before.messages.length)
  })
})
