import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sql } from 'kysely'
import type { NetworkEvent } from '../../src/core/message.ts'
import { NotHeldError } from '../../src/core/nodes/hold.ts'
import { ContactStore } from '../../src/storage/stores/people/contact-store.ts'
import type { Database } from '../../src/storage/database.ts'
import { InboxStore } from '../../src/storage/stores/messages/inbox-store.ts'
import { InstanceStore } from '../../src/storage/stores/accounts/instance-store.ts'
import { JournalStore } from '../../src/storage/stores/messages/journal-store.ts'
import { LeaseStore } from '../../src/storage/stores/lease-store.ts'
import { MessageMapStore } from '../../src/storage/stores/messages/message-map-store.ts'
import type { NewClaim } from '../../src/storage/stores/messages/message-map-store.ts'
import { PeopleStore } from '../../src/storage/stores/people/people-store.ts'
import { toStatement } from '../../src/storage/engine/statement.ts'
import type { Statement } from '../../src/storage/engine/statement.ts'
import { engines, newDatabase } from '../harness/databases.ts'
import { sampleAudit, sampleInstance, sampleInstanceColumns } from '../harness/samples.ts'
import { holdOf, nodeHold } from '../harness/holds.ts'

const key = [Buffer.alloc(32, 7)]

function textEvent(id: string, text = 'hello'): NetworkEvent {
  const person = { phone: '5511988887777', lid: null }
  const envelope = { id, at: 5, chat: { kind: 'person' as const, ...person }, sender: person, fromMe: false }
  const rest = { quote: null, mentions: [], ad: null, secret: null }
  return { ...envelope, pushName: null, kind: 'message', content: { type: 'text', text }, ...rest }
}

async function withLease(database: Database): Promise<void> {
  await new LeaseStore(database).acquire('me', 60_000)
}

async function putRows(database: Database, instance: string, ids: readonly string[]): Promise<void> {
  const journal = new JournalStore(database)
  for (const id of ids) {
    await database.write(journal.inbox({ id, instance, event: textEvent(`W${id}`), receivedAt: 1000 }))
  }
}

function claimOf(id: string, networkId: string, changes: Partial<NewClaim> = {}): NewClaim {
  return {
    id,
    instance: 'a',
    destination: 'https://desk|1|1',
    chat: 'p1',
    sender: 'p1',
    networkId,
    kind: 'message',
    direction: 'in',
    networkKey: { chat: '5511988887777@s.whatsapp.net', id: networkId, fromMe: false, participant: null },
    networkAt: 5,
    content: { text: 'canary-text', secret: 'c2VjcmV0' },
    posting: { conversationId: 12, since: 1000, after: 40 },
    ...changes,
  }
}

for (const engine of engines) {
  describe(`inbox on ${engine}`, () => {
    test('rows of a deleted instance are dropped, and a new instance of that name does not inherit them', async () => {
      await using opened = await newDatabase(engine)
      const { database } = opened
      await withLease(database)
      await putRows(database, 'a', ['01'])
      await putRows(database, 'b', ['02'])
      const instances = new InstanceStore(database)
      const inbox = new InboxStore(database)
      await instances.insert(holdOf('a'), sampleInstance('b'), sampleAudit())
      assert.deepEqual(await inbox.counts('b'), { pending: 0, parked: 0 })
      await putRows(database, 'b', ['03'])
      assert.equal(await inbox.dropOrphans(nodeHold()), 1)
      assert.deepEqual(
        (await inbox.load(['01', '02', '03'])).map(({ id }) => id),
        ['03'],
      )
    })

    test('rows come page by page in the order of arrival, by instance', async () => {
      await using opened = await newDatabase(engine, key)
      await withLease(opened.database)
      await putRows(opened.database, 'a', ['03', '01', '02'])
      await putRows(opened.database, 'b', ['00'])
      const inbox = new InboxStore(opened.database)
      assert.deepEqual(await inbox.pendingIds('a', { after: '', newest: '~' }, 2), ['01', '02'])
      assert.deepEqual(
        (await inbox.load(['02', '01'])).map(({ id, event }) => [id, event.id]),
        [
          ['01', 'W01'],
          ['02', 'W02'],
        ],
      )
      assert.deepEqual(await inbox.pendingIds('a', { after: '02', newest: '~' }, 2), ['03'])
      assert.deepEqual(await inbox.pendingIds('a', { after: '', newest: '02' }, 9), ['01', '02'])
      assert.deepEqual([await inbox.newest('a'), await inbox.newest('c')], ['03', undefined])
      assert.deepEqual(await inbox.counts('a'), { pending: 3, parked: 0 })
    })

    test('a row is tried, parked, tried again and removed', async () => {
      await using opened = await newDatabase(engine, key)
      await withLease(opened.database)
      await putRows(opened.database, 'a', ['01', '02'])
      const inbox = new InboxStore(opened.database)
      await inbox.noteFailure(holdOf('a'), '01', 'answered 500')
      await inbox.park(holdOf('a'), '01', 'will not be taken')
      const [parked] = await inbox.parked('a', 10)
      assert.deepEqual(
        { ...parked, receivedAt: 0 },
        { id: '01', receivedAt: 0, attempts: 1, kind: 'message', lastError: 'will not be taken' },
      )
      assert.deepEqual(await inbox.counts('a'), { pending: 1, parked: 1 })
      assert.deepEqual(await inbox.retryParked(holdOf('a')), ['01'])
      assert.deepEqual(await inbox.counts('a'), { pending: 2, parked: 0 })
      await inbox.park(holdOf('a'), '01', 'again')
      assert.equal(await inbox.removeParked(holdOf('b'), '01'), false)
      assert.equal(await inbox.removeParked(holdOf('a'), '02'), false)
      assert.equal(await inbox.removeParked(holdOf('a'), '01'), true)
      await inbox.remove(holdOf('a'), '02')
      assert.deepEqual(await inbox.counts('a'), { pending: 0, parked: 0 })
    })

    test('a process that has lost the accounts changes nothing', async () => {
      await using opened = await newDatabase(engine)
      await withLease(opened.database)
      await putRows(opened.database, 'a', ['01'])
      const inbox = new InboxStore(opened.database)
      await assert.rejects(inbox.remove(holdOf('a', 2), '01'), { failure: 'expectation' })
      await assert.rejects(inbox.park(holdOf('a', 2), '01', 'x'), { failure: 'expectation' })
      await assert.rejects(inbox.removeParked(holdOf('a', 2), '01'), NotHeldError)
      await assert.rejects(inbox.retryParked(holdOf('a', 2)), { failure: 'expectation' })
      assert.deepEqual(await inbox.counts('a'), { pending: 1, parked: 0 })
    })
  })

  describe(`message map on ${engine}`, () => {
    test('a message is claimed once, and everything known comes with the claim', async () => {
      await using opened = await newDatabase(engine, key)
      await withLease(opened.database)
      const map = new MessageMapStore(opened.database)
      await map.claim(holdOf('a'), claimOf('m0', 'QUOTED'), 'QUOTED')
      const first = await map.claim(holdOf('a'), claimOf('m1', 'W1'), 'QUOTED')
      assert.equal(first.fresh, true)
      assert.deepEqual(
        first.known.map(({ id, networkId }) => [id, networkId]),
        [
          ['m0', 'QUOTED'],
          ['m1', 'W1'],
        ],
      )
      const again = await map.claim(
        holdOf('a'),
        claimOf('m2', 'W1', { posting: { conversationId: 1, since: 9, after: 9 } }),
        'W1',
      )
      assert.equal(again.fresh, false)
      assert.deepEqual(again.known[0]?.posting, { conversationId: 12, since: 1000, after: 40 })
      assert.equal((await map.claim(holdOf('a'), claimOf('m3', 'W1', { kind: 'file' }), 'W1')).fresh, true)
      assert.equal((await map.claim(holdOf('a'), claimOf('m4', 'W1', { destination: 'other' }), 'W1')).fresh, true)
    })

    test('completing maps the message and ends its inbox row in one commit', async () => {
      await using opened = await newDatabase(engine, key)
      await withLease(opened.database)
      await putRows(opened.database, 'a', ['01', '02'])
      const map = new MessageMapStore(opened.database)
      const inbox = new InboxStore(opened.database)
      await map.claim(holdOf('a'), claimOf('m1', 'W1'), 'W1')
      await assert.rejects(
        map.complete(holdOf('a', 2), 'm1', { conversationId: 12, messageId: 41 }, [inbox.removeStep('01')]),
        {
          failure: 'expectation',
        },
      )
      assert.equal((await inbox.counts('a')).pending, 2)
      await map.complete(holdOf('a'), 'm1', { conversationId: 12, messageId: 41 }, [inbox.removeStep('01')])
      const [done] = await map.findByNetworkId('a', ['W1'])
      assert.deepEqual([done?.messageId, done?.posting], [41, null])
      assert.deepEqual(
        (await map.findByMessage('https://desk|1|1', 41)).map(({ id }) => id),
        ['m1'],
      )
      assert.deepEqual(await inbox.pendingIds('a', { after: '', newest: '~' }, 9), ['02'])
    })

    test('a message without its file leaves a row that no chat waits for', async () => {
      await using opened = await newDatabase(engine, key)
      await withLease(opened.database)
      await putRows(opened.database, 'a', ['01'])
      const map = new MessageMapStore(opened.database)
      const inbox = new InboxStore(opened.database)
      await map.claim(holdOf('a'), claimOf('m1', 'W1'), 'W1')
      await map.complete(holdOf('a'), 'm1', { conversationId: 12, messageId: 41 }, [inbox.awaitFileStep('01')])
      assert.deepEqual(await inbox.pendingIds('a', { after: '', newest: '~' }, 9), [])
      assert.deepEqual(await inbox.counts('a'), { pending: 0, parked: 0 })
      assert.deepEqual(
        (await inbox.lateFiles('', 9, 'all')).map(({ id }) => id),
        ['01'],
      )
    })

    test('the data for quotes and votes is sealed at rest and comes back', async () => {
      await using opened = await newDatabase(engine, key)
      await withLease(opened.database)
      const map = new MessageMapStore(opened.database)
      await map.claim(holdOf('a'), claimOf('m1', 'W1'), 'W1')
      assert.deepEqual(await map.contentOf('m1'), { text: 'canary-text', secret: 'c2VjcmV0' })
      const raw = await opened.database.read(opened.database.query.selectFrom('message_map').select('content'))
      assert.ok(!Buffer.from(raw[0]?.content ?? []).includes('canary-text'))
      assert.equal(await map.contentOf('unknown'), null)
    })

    test('old rows and rows of deleted instances are removed in small portions', async () => {
      await using opened = await newDatabase(engine)
      await withLease(opened.database)
      const { database } = opened
      await database.write(database.query.insertInto('instances').values(sampleInstanceColumns('a')))
      const map = new MessageMapStore(database)
      for (const id of ['m1', 'm2', 'm3']) await map.claim(holdOf('a'), claimOf(id, id), id)
      const late = { conversationId: 1, since: 5000, after: 0 }
      await map.claim(holdOf('a'), claimOf('m4', 'm4', { instance: 'b', posting: late }), 'm4')
      assert.deepEqual(await map.orphans(), ['b'])
      assert.equal(await map.prune(nodeHold(), 2000, 2), 2)
      assert.equal(await map.prune(nodeHold(), 2000, 2), 1)
      assert.equal(await map.dropInstance(nodeHold(), 'b', 2), 1)
      assert.deepEqual(await map.orphans(), [])
    })
  })

  describe(`people on ${engine}`, () => {
    const record = { pushName: 'Maria', savedName: null, formerPhones: [] }

    test('a person is found by either address', async () => {
      await using opened = await newDatabase(engine)
      await withLease(opened.database)
      const people = new PeopleStore(opened.database)
      await people.insert(holdOf('a'), { id: 'p1', phone: '55', lid: '99', ...record })
      const whole = { id: 'p1', phone: '55', lid: '99', ...record }
      assert.deepEqual(await people.find('a', { phone: '55', lid: null }), [whole])
      assert.deepEqual(await people.find('a', { phone: null, lid: '99' }), [whole])
      assert.deepEqual(await people.find('b', { phone: '55', lid: '99' }), [])
      assert.deepEqual(await people.find('a', { phone: null, lid: null }), [])
      await people.update(holdOf('a'), 'p1', { savedName: 'Mum', lid: '98' })
      assert.deepEqual(await people.find('a', { phone: '55', lid: null }), [{ ...whole, savedName: 'Mum', lid: '98' }])
    })

    test('two records that are one person become one, with conversations and messages', async () => {
      await using opened = await newDatabase(engine)
      await withLease(opened.database)
      const { database } = opened
      const people = new PeopleStore(database)
      const map = new MessageMapStore(database)
      const contacts = new ContactStore(database)
      await people.insert(holdOf('a'), { id: 'p1', phone: '55', lid: null, ...record })
      await people.insert(holdOf('a'), { id: 'p2', phone: null, lid: '99', ...record })
      await map.claim(holdOf('a'), claimOf('m1', 'W1'), 'W1')
      await map.claim(holdOf('a'), claimOf('m2', 'W1', { chat: 'p2', sender: 'p2' }), 'W1')
      await map.claim(holdOf('a'), claimOf('m3', 'W3', { chat: 'p2', sender: 'p2' }), 'W3')
      await map.claim(holdOf('a'), claimOf('m4', 'W4', { chat: '1@g.us', sender: 'p2' }), 'W4')
      const place = (chat: string, at = 'd1') => ({ instance: 'a', destination: at, chat })
      const known = (conversationId: number) => ({ conversationId, contactId: 1, sourceId: 's' })
      await contacts.saveConversation(holdOf('a'), place('p1'), known(1), 0)
      await contacts.saveConversation(holdOf('a'), place('p2'), known(2), 0)
      await contacts.saveConversation(holdOf('a'), place('p2', 'd2'), known(3), 0)
      await people.merge(holdOf('a'), { id: 'p1', phone: '55', lid: '99', ...record }, { id: 'p2', phone: null })
      assert.deepEqual(
        (await people.find('a', { phone: null, lid: '99' })).map(({ id }) => id),
        ['p1'],
      )
      const rows = await map.findByNetworkId('a', ['W1', 'W3', 'W4'])
      assert.deepEqual(rows.map(({ id, chat, sender }) => [id, chat, sender]).sort(), [
        ['m1', 'p1', 'p1'],
        ['m3', 'p1', 'p1'],
        ['m4', '1@g.us', 'p1'],
      ])
      assert.equal((await contacts.findConversation(place('p1')))?.conversationId, 1)
      assert.equal((await contacts.findConversation(place('p1', 'd2')))?.conversationId, 3)
      assert.equal(await contacts.findConversation(place('p2')), undefined)
    })

    test('merging two people reads only their own messages', { skip: engine !== 'sqlite' }, async () => {
      await using opened = await newDatabase(engine)
      await withLease(opened.database)
      const { database } = opened
      const statements: Statement[] = []
      const write = database.write.bind(database)
      database.write = (...steps) => {
        statements.push(...steps.map((step) => ('compile' in step ? toStatement(step) : step)))
        return write(...steps)
      }
      const people = new PeopleStore(database)
      await people.insert(holdOf('a'), { id: 'p1', phone: '55', lid: null, ...record })
      await people.insert(holdOf('a'), { id: 'p2', phone: null, lid: '99', ...record })
      statements.splice(0)
      await people.merge(holdOf('a'), { id: 'p1', phone: '55', lid: '99', ...record }, { id: 'p2', phone: null })
      const plans: string[] = []
      for (const { sql: text, parameters } of statements) {
        if (!text.includes('message_map')) continue
        const explained = { ...sql`x`.compile(database.query), sql: `EXPLAIN QUERY PLAN ${text}`, parameters }
        const rows = await database.read<{ detail: string }>({ compile: () => explained })
        plans.push(...rows.map(({ detail }) => detail))
      }
      assert.ok(plans.length > 0)
      const wide = plans.filter((plan) => plan.startsWith('SCAN') || plan.endsWith('(instance=?)'))
      assert.deepEqual(wide, [])
    })
  })

  describe(`contacts on ${engine}`, () => {
    test('are known by source id and valid for one destination', async () => {
      await using opened = await newDatabase(engine)
      await withLease(opened.database)
      const contacts = new ContactStore(opened.database)
      const one = { sourceId: 'lid-9', contactId: 4, ours: true, name: 'Maria' }
      await contacts.saveContact(holdOf('a'), 'd1', one)
      await contacts.saveContact(holdOf('a'), 'd1', { ...one, name: 'Maria S' })
      assert.deepEqual(await contacts.findContacts('d1', ['lid-9', '55']), [
        { ...one, name: 'Maria S', givenName: null, renamingTo: null },
      ])
      assert.deepEqual(await contacts.findContacts('d2', ['lid-9']), [])
      await contacts.mergeContacts(holdOf('a'), 'd1', { keep: 7, drop: 4 })
      assert.equal((await contacts.findContacts('d1', ['lid-9']))[0]?.contactId, 7)
      await contacts.dropContact(holdOf('a'), 'd1', 'lid-9')
      assert.deepEqual(await contacts.findContacts('d1', ['lid-9']), [])
    })

    test('conversations of another account with the same contact are told apart', async () => {
      await using opened = await newDatabase(engine)
      await withLease(opened.database)
      const contacts = new ContactStore(opened.database)
      const place = (instance: string) => ({ instance, destination: 'd1', chat: 'p1' })
      await contacts.saveConversation(holdOf('a'), place('a'), { conversationId: 1, contactId: 4, sourceId: '55' }, 0)
      await contacts.saveConversation(holdOf('a'), place('b'), { conversationId: 2, contactId: 4, sourceId: '55' }, 0)
      assert.deepEqual(await contacts.excludedConversations(place('a'), '55'), [2])
      await contacts.dropConversation(holdOf('a'), place('b'))
      assert.deepEqual(await contacts.excludedConversations(place('a'), '55'), [])
    })
  })
}
