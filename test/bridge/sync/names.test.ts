// Which contacts and headers follow a name, in cases that are hard to reach from outside.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { envelope, message } from '../inbound/harness/bridge-bed.ts'
import { NamesBed } from './harness/names-bed.ts'

const phone = '5511988887777'
const group = { kind: 'group' as const, id: '120363000000000001' }

/** As if the contact was stored before given names were. */
async function forgetGivenNames({ bed: { database } }: NamesBed): Promise<void> {
  await database.write(database.query.updateTable('contacts').set({ given_name: null }))
}

test('a contact from before given names were stored follows when it has the name that the person had', async () => {
  await using names = await NamesBed.open()
  await names.bed.receive(message('one'))
  await names.bed.drained()
  await forgetGivenNames(names)
  await names.bed.receive(message('two', { pushName: 'Maria Silva' }))
  await names.counted({ ok: 1 })
  assert.deepEqual(names.contactNames(), ['Maria Silva'])
})

test('a contact from before given names were stored keeps any other name', async () => {
  await using names = await NamesBed.open()
  await names.bed.receive(message('one'))
  await names.bed.drained()
  await forgetGivenNames(names)
  const { database, helpdesk } = names.bed
  await database.write(database.query.updateTable('contacts').set({ name: 'VIP' }))
  for (const contact of helpdesk.contacts) contact.name = 'VIP'
  await names.bed.receive(message('two', { pushName: 'Maria Silva' }))
  await names.counted({ no_contact: 1 })
  assert.deepEqual(names.contactNames(), ['VIP'])
})

test('two records that become one person bring the name to the contact and to the headers of both', async () => {
  await using names = await NamesBed.open()
  const { bed } = names
  const lid = { phone: null, lid: '1001' }
  await bed.receive(message('by the anonymous id', { chat: group, sender: lid, pushName: 'Maria' }))
  await bed.receive(message('by the number', { chat: group, sender: { phone, lid: null }, pushName: 'Maria' }))
  await bed.drained()
  await bed.receive(message('both', { chat: group, sender: { phone, lid: '1001' }, pushName: 'Mary' }))
  await names.counted({ ok: 1 })
  assert.deepEqual(names.changes.map(({ from, to }) => [from, to]).sort(), [
    ['`+5511988887777 · ~Maria`', '`+5511988887777 · ~Mary`'],
    ['`1001 · ~Maria`', '`+5511988887777 · ~Mary`'],
  ])
})

test('the header of a person who hides the number has the number that the group tells', async () => {
  await using names = await NamesBed.open()
  const { bed } = names
  const hidden = { phone: null, lid: '1001' }
  const member = { ...hidden, name: null, redactedPhone: '+55119∙∙∙∙77', role: 'member' as const }
  bed.session = { groupInfo: (id) => Promise.resolve({ id, subject: 'Team', members: [member] }) }
  await bed.receive(message('one', { chat: group, sender: hidden }))
  await bed.drained()
  void bed.set.reception.onNames('a', [{ person: hidden, savedName: 'Mum' }])
  await names.counted({ ok: 1 })
  assert.deepEqual(names.changes.map(({ from, to }) => [from, to])[0], [
    '`+55119∙∙∙∙77 · ~Maria`',
    '`+55119∙∙∙∙77 · Mum`',
  ])
})

test('a header stays while the network cannot tell the number of a person who hides it', async () => {
  await using names = await NamesBed.open()
  const { bed } = names
  const hidden = { phone: null, lid: '1001' }
  await bed.receive(message('one', { chat: group, sender: hidden }))
  await bed.drained()
  void bed.set.reception.onNames('a', [{ person: hidden, savedName: 'Mum' }])
  await names.counted({ duplicate: 1 })
  assert.deepEqual(names.changes, [])
})

test('headers that are too old are neither rewritten nor kept', async () => {
  await using names = await NamesBed.open({ SERVICE_RETROACTIVE_TTL: '1h', SERVICE_RETROACTIVE_CAP_PER_SENDER: '2' })
  const { bed } = names
  const kept = async () => {
    const query = bed.database.query.selectFrom('message_map').select('network_id').where('header', 'is not', null)
    return (await bed.database.read(query)).length
  }
  await bed.receive(message('old', { chat: group }))
  await bed.drained()
  await bed.pass(3_600_001)
  for (const text of ['one', 'two', 'three']) await bed.receive(message(text, { chat: group }))
  await bed.drained()
  void bed.set.reception.onNames('a', [{ person: { phone, lid: null }, savedName: 'Mum' }])
  await names.counted({ ok: 1 })
  assert.equal(names.changes.length, 2)
  assert.equal(await kept(), 4)
  await bed.set.headerHistory.prune()
  assert.equal(await kept(), 2)
})

test('more names at once than a queue holds count as those of a whole address book', async () => {
  await using names = await NamesBed.open()
  const { bed } = names
  await bed.receive(message('one'))
  await bed.drained()
  const { promise, resolve } = Promise.withResolvers<undefined>()
  bed.helpdesk.script = (call) => (call === 'findContact' ? promise : undefined)
  const person = { phone, lid: null }
  void bed.set.reception.onNames(
    'a',
    Array.from({ length: 1010 }, (_, at) => ({ person, savedName: `Name ${at}` })),
  )
  await names.counted({ skip_fullsync: 10 })
  resolve(undefined)
  // The first name was on its way when the others came.
  await names.counted({ skip_fullsync: 10, ok: 2, duplicate: 998 })
  assert.deepEqual(names.contactNames(), ['Name 1009'])
})

test('names of an instance that leaves are not brought to the helpdesk any more', async () => {
  await using names = await NamesBed.open()
  const { bed } = names
  await bed.receive(message('one'))
  await bed.drained()
  const { promise, resolve } = Promise.withResolvers<undefined>()
  bed.helpdesk.script = (call) => (call === 'findContact' ? promise : undefined)
  const person = { phone, lid: null }
  for (const savedName of ['One', 'Two', 'Three']) void bed.set.reception.onNames('a', [{ person, savedName }])
  await bed.settle()
  names.names.sync.leave('a')
  resolve(undefined)
  await bed.settle()
  await names.counted({})
})

test('a reconciliation ends when its instance leaves, and nothing more is counted for it', async () => {
  await using names = await NamesBed.open()
  const { bed } = names
  await bed.receive(message('one'))
  await bed.drained()
  void bed.set.reception.onNames('a', [{ person: { phone, lid: null }, savedName: 'Mum', isFullSync: true }])
  await names.counted({ skip_fullsync: 1 })
  const { reconciliation } = names.names
  bed.helpdesk.script = (call) => {
    if (call === 'findContact') reconciliation.leave('a')
  }
  await assert.rejects(reconciliation.run('a'), { code: 'SERVICE_INSTANCE_NOT_FOUND' })
  await names.counted({ skip_fullsync: 1 })
  bed.helpdesk.script = () => undefined
  assert.partialDeepStrictEqual(await reconciliation.run('a'), { scanned: 1 })
})

test('a group contact without a subject gets it with a later message', async () => {
  await using names = await NamesBed.open({ SERVICE_RETROACTIVE_NAME_UPDATE: 'false' })
  const { bed } = names
  await bed.receive(message('one', { chat: group }))
  await bed.drained()
  assert.deepEqual(names.contactNames(), ['Group 120363000000000001'])
  bed.session = { groupInfo: (id) => Promise.resolve({ id, subject: 'Team', members: [] }) }
  await bed.pass(3_600_000)
  await bed.receive(message('two', { chat: group }))
  await names.counted({ ok: 1 })
  assert.deepEqual(names.contactNames(), ['Team'])
})

test('an event without a sender that is known changes no name', async () => {
  await using names = await NamesBed.open()
  const { bed } = names
  await bed.receive({ ...envelope({ pushName: null }), kind: 'call', video: false, missed: false })
  await bed.drained()
  await names.counted({})
})
