// Fills a database as a year of a busy service leaves it. The stores write one row of each kind, so that it has the columns of a
// real one, and the database multiplies it.

import { SimNetwork } from '../sim/network/sim-network.ts'
import { waitingLifetimeMs } from '../src/core/outbox.ts'
import { createRowIds } from '../src/lib/row-ids.ts'
import { blankInstance, toNewColumns } from '../src/storage/stores/accounts/instance-rows.ts'
import { holdOf, nodeHold } from '../test/harness/holds.ts'
import { storeLinked } from '../test/network/harness/network-room.ts'
import { sampleOutboxRow, usageBatch } from '../test/harness/samples.ts'
import type { Stores } from '../test/storage/harness/all-stores.ts'
import { sqlOf } from './large-names.ts'
import type { Sizes } from './large-names.ts'
import { multiplyRow } from './multiply-row.ts'

export const dayMs = 86_400_000
export const daysOfMessages = 90
const daysOfOutbox = 30
const daysOfUsage = 365
/** The instance of the rows that are multiplied. */
export const template = 'template'
const instance = template
const destination = template
const hold = holdOf(instance)

export async function fill(stores: Stores, sizes: Sizes): Promise<void> {
  const { database } = stores
  const now = Date.now()
  await fillInstances(stores, sizes, now)
  await fillPeople(stores, sizes, now)
  await fillMessages(stores, sizes, now)
  await fillOutbox(stores, sizes, now)
  await fillLedger(stores, sizes, now)
  // The server of the tests does not do it by itself. The service leaves SQLite without statistics.
  if (database.engine === 'postgres') await database.write({ sql: 'ANALYZE', parameters: [] })
}

async function fillInstances(stores: Stores, sizes: Sizes, now: number): Promise<void> {
  const { database } = stores
  const linked = { state: 'ready' as const, sessionId: 'session', jid: '1@s.whatsapp.net', lastJid: '1@s.whatsapp.net' }
  const row = { ...blankInstance(instance, now), ...linked, pairedAt: now, readyAt: now }
  await database.write(database.query.insertInto('instances').values(toNewColumns(row)))
  const jid = `${sqlOf.phone('i')} || '@s.whatsapp.net'`
  const columns = { name: sqlOf.instance('i', sizes), session_id: sqlOf.text('session-', 'i'), jid, last_jid: jid }
  await multiplyRow(database, { table: 'instances', where: `name = '${instance}'`, count: sizes.instances, columns })
  if (database.engine === 'postgres') await assignAll(stores, now)
  await linkAll(stores, sizes)
}

/** The node of the holds has all instances. */
async function assignAll({ database, nodes }: Stores, now: number): Promise<void> {
  const { node } = nodeHold()
  const rest = { name: 'bench', address: '', build: '', protocol: 1, settingsHash: '', capacity: 1000 }
  await nodes.join({ id: node, ...rest }, now)
  const assigned = `SELECT name, '${node}', 1, 0 FROM instances`
  await database.write({ sql: `INSERT INTO assignments (instance, node, epoch, since) ${assigned}`, parameters: [] })
}

/** All sessions have the same keys. They never log in. */
async function linkAll({ keys }: Stores, { instances }: Sizes): Promise<void> {
  await using sim = await SimNetwork.start()
  const phone = sim.account({ phone: '5511900000000' })
  await storeLinked(sim, phone, async (writes) => {
    const sessions = ['session', ...Array.from({ length: instances }, (_, index) => `session-${index}`)]
    for (const session of sessions) await keys.save(nodeHold(), session, writes)
  })
}

async function fillPeople({ database, people, contacts }: Stores, sizes: Sizes, now: number): Promise<void> {
  const person = { id: instance, phone: '1', lid: null, pushName: 'Maria', savedName: null, formerPhones: [] }
  await people.insert(hold, person)
  await contacts.saveContact(hold, destination, { sourceId: 'template', contactId: 0, ours: true, name: 'Maria' })
  const conversation = { conversationId: 0, contactId: 0, sourceId: 'template' }
  await contacts.saveConversation(hold, { instance, destination, chat: 'template' }, conversation, now)
  const place = { instance: sqlOf.instance('i', sizes), destination: sqlOf.destination('i', sizes) }
  const { contacts: count, conversations } = sizes
  const [chat, phone] = [sqlOf.chat('i'), sqlOf.phone('i')]
  const where = `instance = '${instance}'`
  await multiplyRow(database, { table: 'people', where, count, columns: { ...place, id: chat, phone } })
  const contact = { destination: place.destination, source_id: phone, contact_id: 'i' }
  await multiplyRow(database, { table: 'contacts', where: `source_id = 'template'`, count, columns: contact })
  const ids = { ...place, chat, conversation_id: 'i' }
  const known = { ...ids, contact_id: 'i', source_id: phone }
  await multiplyRow(database, { table: 'conversations', where, count: conversations, columns: known })
  await multiplyRow(database, { table: 'conversation_chats', where, count: conversations, columns: ids })
}

async function fillMessages({ database, map, journal }: Stores, sizes: Sizes, now: number): Promise<void> {
  const { messages: count, conversations } = sizes
  const networkKey = { chat: '5511900000000@s.whatsapp.net', id: '3EB0', fromMe: false, participant: null }
  const identity = { instance, destination, chat: 'template', sender: 'template', networkId: '3EB0', kind: 'message' }
  const posting = { conversationId: 0, since: now, after: 0 }
  const content = { text: 'hello, when does my order arrive?' }
  const claim = { ...identity, id: 'template', direction: 'in' as const, networkKey, networkAt: now, content, posting }
  await map.claim(hold, claim, '')
  await map.complete(hold, claim.id, { conversationId: 0, messageId: 0 }, [])
  const conversation = `(i % ${conversations})`
  const isOurs = `i / ${conversations} % 2 = 1`
  const claimed_at = `${now - daysOfMessages * dayMs} + i * ${Math.floor((daysOfMessages * dayMs) / count)}`
  const columns = {
    id: idOf(now, 'a'),
    instance: sqlOf.instance(conversation, sizes),
    destination: sqlOf.destination(conversation, sizes),
    chat: sqlOf.chat(conversation),
    sender: sqlOf.chat(conversation),
    network_id: sqlOf.network('i'),
    direction: `CASE WHEN ${isOurs} THEN 'out' ELSE 'in' END`,
    ...{ conversation_id: conversation, message_id: 'i', claimed_at, network_at: claimed_at },
    // The newest message of each second chat is unread.
    read_at: `CASE WHEN i >= ${count - conversations} THEN NULL ELSE ${claimed_at} END`,
  }
  await multiplyRow(database, { table: 'message_map', where: `id = 'template'`, count, columns })
  await database.write(journal.opened('session-0', 'template', now))
  const opened = { session_id: sqlOf.text('session-', `i % ${sizes.instances}`), envelope: sqlOf.network('i') }
  const kept = Math.floor(count / 10)
  await multiplyRow(database, { table: 'opened', where: `envelope = 'template'`, count: kept, columns: opened })
}

/** Those that wait belong to all instances alike; the settled ones are of the last month. */
async function fillOutbox({ database, outbox, transitions }: Stores, sizes: Sizes, now: number): Promise<void> {
  const expiresAt = now + waitingLifetimeMs
  const template = { instance, destination, createdAt: now, expiresAt, isWaiting: true, isDrained: true }
  const callback = { destination, kind: 'message_created', eventId: 0 }
  await outbox.enqueue(sampleOutboxRow('waits', template), callback)
  await outbox.enqueue(sampleOutboxRow('sent', { ...template, isWaiting: false, expiresAt: null }), null)
  await transitions.claim(instance, 'sent', now, [], 'template')
  await transitions.markSent({ id: 'sent', instance }, [], now, [])
  const conversation = `(i % ${sizes.conversations})`
  const place = { instance: sqlOf.instance(conversation, sizes), destination: sqlOf.destination(conversation, sizes) }
  const row = { ...place, chat: sqlOf.chat(conversation), conversation_id: conversation }
  const settled = Math.floor(sizes.messages / 10)
  const settled_at = `${now - daysOfOutbox * dayMs} + i * ${Math.floor((daysOfOutbox * dayMs) / settled)}`
  const times = { created_at: settled_at, settled_at }
  const sent = { ...row, ...times, id: idOf(now, 'b'), message_id: `${sizes.messages} + i` }
  const waits = { ...row, id: idOf(now, 'c'), message_id: `${sizes.messages * 2} + i` }
  await multiplyRow(database, { table: 'outbox', where: `id = 'sent'`, count: settled, columns: sent })
  await multiplyRow(database, { table: 'outbox', where: `id = 'waits'`, count: sizes.waiting, columns: waits })
  const callbacks = { destination: place.destination, event_id: `${sizes.messages} + i`, outbox_id: idOf(now, 'b') }
  const where = `outbox_id = 'waits'`
  await multiplyRow(database, { table: 'settled_callbacks', where, count: settled, columns: callbacks })
}

async function fillLedger({ database, usage, audit, states }: Stores, sizes: Sizes, now: number): Promise<void> {
  const { instances, audit: count } = sizes
  const counters = { messages_in: 9, messages_out: 9, spamguard_blocks: 0, lifecycle_events: 0 }
  await usage.add(usageBatch([{ instance, day: '2020-01-01', ownerTag: '', ...counters }]))
  const days = Array.from({ length: daysOfUsage }, (_, ago) => new Date(now - ago * dayMs).toISOString().slice(0, 10))
  for (const day of days) {
    const columns = { instance: sqlOf.instance('i', sizes), day: `'${day}'` }
    const where = `instance = '${instance}'`
    await multiplyRow(database, { table: 'usage', where, count: instances, columns })
  }
  await audit.append({ at: now, actor: 'api', action: 'tenant.upsert', instance, target: 'template' })
  const entry = { instance: sqlOf.instance('i', sizes), target: `''` }
  await multiplyRow(database, { table: 'audit', where: `target = 'template'`, count, columns: entry })
  await states.add([{ id: 'template', instance, at: now, state: 'ready', reason: '' }])
  const change = { id: sqlOf.text('s', 'i'), instance: entry.instance, at: `${now} - i` }
  await multiplyRow(database, { table: 'state_changes', where: `id = 'template'`, count, columns: change })
}

/** In the form of the ids of the service, and older than all that it makes. `kind` tells the tables apart. */
function idOf(now: number, kind: string): string {
  const time = createRowIds({ now: () => now - daysOfMessages * dayMs })().slice(0, 9)
  return sqlOf.text(`${time}${kind}`, '100000000 + i')
}
