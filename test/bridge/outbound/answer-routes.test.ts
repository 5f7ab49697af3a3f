// Who answers whom, where accounts share an inbox, where an account is gone, and where a person has another number.

import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { waitUntil } from '../../harness/wait-until.ts'
import { ana, OutboundBed } from './harness/outbound-bed.ts'
import type { Customer } from './harness/scripted-network.ts'

const oldNumber = '5511888880001'
const newNumber = '5511888880077'

const hears = async (bed: OutboundBed, instance: string) => (await bed.hears('hello', { instance })).conversationId

/** A callback for a conversation whose contact says nothing. */
const nameless = (bed: OutboundBed, id: number, content: string, conversation: number) =>
  bed.callback(id, content, { conversation: { id: conversation, inbox_id: 1, meta: { sender: {} } } })

/** An agent began this conversation with a phone number. */
const begun = (bed: OutboundBed, id: number, content: string, phone: string) => {
  const contact_inbox = { source_id: '0b3c1f62-6a0e-4f0a-9a35-b1a9d7f7a4c1' }
  const conversation = { id: 900, inbox_id: 1, meta: { sender: { phone_number: `+${phone}` } }, contact_inbox }
  return bed.callback(id, content, { conversation })
}

const sentTo = async (bed: OutboundBed, text: string) => {
  const found = () => bed.network.messages.find(({ content }) => 'text' in content && content.text === text)
  await bed.until(`"${text}" is sent`, () => found() !== undefined)
  return found()?.to
}

/** The network tells the new number of a customer. */
async function renumber({ process, database }: OutboundBed, { lid }: Customer, phone: string): Promise<void> {
  process.inbound.reception.onPairs('n0', [{ phone, lid: lid ?? '' }])
  const read = () => database.read(database.query.selectFrom('people').select('phone').where('lid', '=', lid))
  await waitUntil('the person has the number', async () => (await read())[0]?.phone === phone, { instead: read })
}

test('a text leaves at once, also when the callback comes in through the webhook of another instance', async () => {
  await using bed = await OutboundBed.open({ accounts: 2 })
  const conversation = await hears(bed, 'n1')
  assert.equal(bed.location.engine, 'sqlite')
  using reader = new DatabaseSync(bed.location.path, { readOnly: true })
  const stored: unknown[] = []
  let preparedBefore = 0
  bed.network.whilePreparing = () => {
    if (reader.prepare('SELECT id FROM outbox').all().length === stored.length) preparedBefore += 1
  }
  for (const id of [1, 2]) {
    assert.equal((await bed.post(nameless(bed, id, `text ${id}`, conversation), { instance: 'n0' })).status, 200)
    stored.push(id)
  }
  assert.equal(preparedBefore, 2, 'each text is made ready while its row is stored')
  assert.deepEqual(
    bed.network.to(bed.bob).map(({ instance }) => instance),
    ['n1', 'n1'],
  )
})

test('a conversation that is stored needs no recipient in the callback; another one does', async () => {
  await using bed = await OutboundBed.open()
  const conversation = await hears(bed, 'n0')
  assert.equal((await bed.post(nameless(bed, 1, 'stored', conversation))).status, 200)
  const { status, body } = await bed.post(nameless(bed, 2, 'not stored', 999))
  assert.deepEqual([status, (body as { reason?: string }).reason], [422, 'no_recipient'])
  assert.deepEqual(bed.texts(), ['stored'])
})

test('an instance that is gone or serves another inbox is passed over', async () => {
  await using bed = await OutboundBed.open({ accounts: 3 })
  const conversation = await hears(bed, 'n0')
  const { database } = bed
  const chats = database.query.selectFrom('conversation_chats').selectAll()
  // The helpdesk has one conversation for all: the customer wrote to n1 after n0, and to n2 last.
  for (const [index, instance] of ['n1', 'n2'].entries()) {
    const own = await hears(bed, instance)
    const [row] = await database.read(chats.where('conversation_id', '=', own))
    assert.ok(row)
    const later = { ...row, conversation_id: conversation, wrote_at: row.wrote_at + index + 1 }
    await database.write(database.query.insertInto('conversation_chats').values(later))
  }
  const senderOf = async (id: number) => {
    await bed.post(nameless(bed, id, `text ${id}`, conversation))
    return (await bed.received(`text ${id}`)).instance
  }
  assert.equal(await senderOf(1), 'n2')
  bed.change('n2', { inboxId: 2 })
  assert.equal(await senderOf(2), 'n1')
  await bed.remove('n1')
  assert.equal(await senderOf(3), 'n0')
})

test('Retry of a message that never reached us goes to the chat of the stored conversation', async () => {
  await using bed = await OutboundBed.open()
  const conversation = await hears(bed, 'n0')
  const other = bed.network.person({ phone: '5511888880002' })
  for (const contact of bed.helpdesk.contacts) Object.assign(contact, { identifier: null, phone: `+${other.phone}` })
  for (const each of bed.helpdesk.conversations) Object.assign(each, { sourceId: 'made-up-by-the-helpdesk' })
  await bed.stop()
  const id = await bed.write('while the service was away', {}, conversation)
  await bed.start()
  await bed.desk.retry(id)
  await bed.received('while the service was away')
  assert.deepEqual(bed.texts(other), [])
})

test('a deletion that comes in through another instance settles the message for all of them', async () => {
  await using bed = await OutboundBed.open({ accounts: 2 })
  const callback = bed.callback(5, 'never mind')
  const deletion = { ...callback, event: 'message_updated', content_attributes: { deleted: true } }
  assert.equal((await bed.post(deletion, { instance: 'n1' })).status, 200)
  assert.deepEqual((await bed.post(callback)).body, { status: 'ignored', reason: 'duplicate' })
  assert.equal((await bed.post(bed.callback(6, 'sent and taken back'))).status, 200)
  const taken = { ...deletion, id: 6 }
  await Promise.all(['n1', 'n0'].map((instance) => bed.post(taken, { instance })))
  await bed.until('it is taken back', () => bed.network.messages.some(({ content }) => content.type === 'revoke'))
  await bed.settle()
  const kinds = bed.network.messages.map(({ content, instance }) => `${content.type} by ${instance}`)
  assert.deepEqual(kinds, ['text by n0', 'revoke by n0'])
})

test('typing is shown to the chat of the stored conversation, not to the merged contact', async () => {
  await using bed = await OutboundBed.open()
  const conversation = await hears(bed, 'n0')
  const sender = { identifier: '5511888880002@s.whatsapp.net' }
  const shown = { id: conversation, inbox_id: 1, meta: { sender } }
  await bed.post({ event: 'conversation_typing_on', user: ana, conversation: shown, is_private: false })
  await bed.until('typing is shown', () => bed.network.typing.length === 1)
  assert.equal(bed.network.typing[0]?.to, `${oldNumber}@s.whatsapp.net`)
})

test('a message that waits while the person gets another number goes to the new number', async () => {
  await using bed = await OutboundBed.open()
  const conversation = await hears(bed, 'n0')
  bed.disconnect()
  await bed.post(nameless(bed, 1, 'stored conversation', conversation))
  await bed.post(begun(bed, 2, 'begun by an agent', oldNumber))
  await renumber(bed, bed.bob, newNumber)
  bed.connect()
  assert.equal(await sentTo(bed, 'stored conversation'), `${newNumber}@s.whatsapp.net`)
  assert.equal(await sentTo(bed, 'begun by an agent'), `${newNumber}@s.whatsapp.net`)
  assert.deepEqual(bed.network.lookUps, [], 'the network is not asked about the old number')
})

test('a number that another person has now leads to that person; the conversation of the first one does not', async () => {
  await using bed = await OutboundBed.open()
  const conversation = await hears(bed, 'n0')
  await renumber(bed, bed.bob, newNumber)
  const heir = bed.network.person({ phone: oldNumber, lid: '200000000000099', name: 'Heir' })
  await renumber(bed, heir, oldNumber)
  await bed.post(begun(bed, 1, 'to the number', oldNumber))
  assert.equal(await sentTo(bed, 'to the number'), `${oldNumber}@s.whatsapp.net`)
  await bed.post(nameless(bed, 2, 'in the conversation', conversation))
  assert.equal(await sentTo(bed, 'in the conversation'), `${newNumber}@s.whatsapp.net`)
  await bed.restart()
  await bed.post(begun(bed, 3, 'to the number again', oldNumber))
  assert.equal(await sentTo(bed, 'to the number again'), `${oldNumber}@s.whatsapp.net`)
})
