import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { NotHeldError } from '../../src/core/nodes/hold.ts'
import { maxWaiting, waitingLifetimeMs } from '../../src/core/outbox.ts'
import type { OutboxPart } from '../../src/core/outbox.ts'
import { AuditStore } from '../../src/storage/stores/ledger/audit-store.ts'
import { LeaseStore } from '../../src/storage/stores/lease-store.ts'
import { OutboxTransitions } from '../../src/storage/stores/messages/outbox-transitions.ts'
import type { NewOutboxRow } from '../../src/storage/stores/messages/outbox-rows.ts'
import { OutboxStore } from '../../src/storage/stores/messages/outbox-store.ts'
import { PeopleStore } from '../../src/storage/stores/people/people-store.ts'
import { engines, newDatabase } from '../harness/databases.ts'
import { holdOf, nodeHold } from '../harness/holds.ts'

const place = { instance: 'shop', destination: 'https://desk|1|1' }
const callback = (eventId: number) => ({ ...place, kind: 'message_created', eventId })

function sampleRow(id: string, overrides: Partial<NewOutboxRow> = {}): NewOutboxRow {
  return {
    ...place,
    id,
    kind: 'message',
    ownerTag: 'acme',
    inboxId: 0,
    chatId: 'p1',
    remoteJid: '5511999990001@s.whatsapp.net',
    conversationId: 7,
    messageId: 70,
    isWaiting: false,
    isDrained: false,
    expiresAt: null,
    fingerprint: null,
    createdAt: 1000,
    payload: { type: 'message', content: 'hello', attachments: [], inReplyTo: null, agentName: null },
    ...overrides,
  }
}

const part = (state: OutboxPart['state']): OutboxPart[] => [{ id: 'W1', of: 'text', state }]

for (const engine of engines) {
  const setUp = async () => {
    await using stack = new AsyncDisposableStack()
    const { database } = stack.use(await newDatabase(engine, [Buffer.alloc(32, 1)]))
    const epoch = (await new LeaseStore(database).acquire('test', 60_000)) ?? 0
    const lease = { epoch }
    const outbox = new OutboxStore(
      database,
      (instance) => holdOf(instance, lease.epoch),
      () => nodeHold(lease.epoch),
    )
    const transitions = new OutboxTransitions(database, (instance) => holdOf(instance, lease.epoch))
    const audits = async () =>
      (await new AuditStore(database).list({ limit: 100 })).map(({ action, target }) => `${action} ${target}`)
    const owned = stack.move()
    return { database, lease, outbox, transitions, audits, [Symbol.asyncDispose]: () => owned.disposeAsync() }
  }

  describe(`outbox on ${engine}`, () => {
    test('the rows of a person that is merged away get the chat of the kept person in the same commit', async () => {
      await using stage = await setUp()
      const { outbox, database, lease } = stage
      for (const [id, chatId] of Object.entries({ a: 'keep', b: 'drop', c: 'other' })) {
        await outbox.enqueue(sampleRow(id, { chatId }), null)
      }
      await outbox.enqueue(sampleRow('d', { chatId: 'drop', instance: 'market' }), null)
      const keep = { id: 'keep', phone: '55', lid: '99', pushName: null, savedName: null, formerPhones: [] }
      await new PeopleStore(database).merge(holdOf('shop', lease.epoch), keep, { id: 'drop', phone: null })
      const rows = [...(await outbox.live('shop')), ...(await outbox.live('market'))]
      const chats = rows.map(({ id, chatId }) => `${id} ${chatId}`)
      assert.deepEqual(chats, ['a keep', 'b keep', 'c other', 'd drop'])
    })

    test('a message and its callback are stored together, and a repeat is a duplicate', async () => {
      await using stage = await setUp()
      const { outbox } = stage
      assert.equal(await outbox.enqueue(sampleRow('a'), callback(70)), 'accepted')
      assert.equal(await outbox.enqueue(sampleRow('b'), callback(70)), 'duplicate')
      assert.equal(await outbox.find('b'), undefined)
      assert.equal((await outbox.settledBy(callback(70)))?.id, 'a')
      assert.equal(await outbox.settledBy({ ...callback(70), kind: 'message_deleted' }), undefined)
      assert.equal(await outbox.settledBy({ ...callback(70), destination: 'elsewhere' }), undefined)
      assert.deepEqual((await outbox.open('a'))?.payload, sampleRow('a').payload)
    })

    test('a message that leaves at once is stored as claimed, and can be taken back or waits again', async () => {
      await using stage = await setUp()
      const { outbox, transitions } = stage
      const claim = { parts: part('unknown'), address: 'elsewhere@lid' }
      assert.equal(await outbox.enqueue(sampleRow('a'), callback(70), claim), 'accepted')
      assert.equal(await outbox.enqueue(sampleRow('b'), callback(70), claim), 'duplicate')
      const seen = async (id: string) => {
        const row = await outbox.find(id)
        return row && [row.status, row.attempts, row.isUnconfirmed, row.parts, row.remoteJid]
      }
      assert.deepEqual(await seen('a'), ['sending', 1, true, part('unknown'), 'elsewhere@lid'])
      assert.equal(await transitions.claim('shop', 'a', 1000, part('unknown'), 'jid'), false)
      assert.equal(await transitions.unclaim('shop', 'a'), true)
      assert.deepEqual((await seen('a'))?.slice(0, 4), ['pending', 0, false, []])
      assert.equal(await transitions.unclaim('shop', 'a'), false)
      await outbox.enqueue(sampleRow('c'), callback(71), claim)
      assert.equal(await transitions.withdraw('shop', 'c', 'too late', 2000), true)
      assert.deepEqual((await seen('c'))?.slice(0, 4), ['refused', 1, false, []])
      assert.equal(await outbox.settledBy(callback(71)), undefined)
      await outbox.enqueue(sampleRow('d'), null, claim)
      assert.equal(await transitions.markSent({ id: 'd', instance: 'shop' }, part('sent'), 2000, []), true)
      assert.equal((await outbox.totals('shop')).sent, 1)
    })

    test('a message is stored only while its condition holds; a repeat is a duplicate whether it does or not', async () => {
      await using stage = await setUp()
      const { outbox } = stage
      const holds = { sql: 'SELECT 1', parameters: [] }
      const fails = { sql: 'SELECT 1 WHERE 1 = 0', parameters: [] }
      const storeIf = async (condition: typeof holds, ...message: Parameters<typeof outbox.enqueue>) =>
        (await outbox.enqueueIf({ conditions: [condition] }, ...message)).stored
      assert.equal(await storeIf(fails, sampleRow('a'), callback(70)), 'stale')
      assert.equal(await outbox.find('a'), undefined)
      assert.equal(await outbox.settledBy(callback(70)), undefined)
      assert.equal(await storeIf(holds, sampleRow('a'), callback(70)), 'accepted')
      assert.equal(await storeIf(fails, sampleRow('b'), callback(70)), 'duplicate')
      stage.lease.epoch += 1
      await assert.rejects(storeIf(holds, sampleRow('c'), callback(71)), NotHeldError)
      await assert.rejects(outbox.enqueue(sampleRow('c'), callback(71)), NotHeldError)
    })

    test('the commit that stores a message says whether its conversation has unread messages', async () => {
      await using stage = await setUp()
      const { outbox } = stage
      const unread = { sql: 'SELECT 1', parameters: [] }
      const none = { sql: 'SELECT 1 WHERE 1 = 0', parameters: [] }
      const store = (id: string, messageId: number, question?: typeof unread) => {
        const asked = { conditions: [unread], ...(question && { unread: question }) }
        return outbox.enqueueIf(asked, sampleRow(id), callback(messageId))
      }
      assert.deepEqual(await store('a', 70, unread), { stored: 'accepted', hasUnread: true })
      assert.deepEqual(await store('b', 71, none), { stored: 'accepted', hasUnread: false })
      assert.deepEqual(await store('c', 72), { stored: 'accepted', hasUnread: false })
      assert.deepEqual(await store('d', 72, unread), { stored: 'duplicate', hasUnread: false })
    })

    test('a stored message is sealed', async () => {
      await using stage = await setUp()
      await stage.outbox.enqueue(sampleRow('a'), null)
      const [row] = await stage.database.read(stage.database.query.selectFrom('outbox').selectAll())
      assert.ok(!JSON.stringify(row).includes('hello') && !Buffer.from(row?.payload ?? []).includes('hello'))
    })

    test('at most 200 messages of an instance wait; messages that leave at once are not counted', async () => {
      await using stage = await setUp()
      const { outbox, audits } = stage
      const waiting = { isWaiting: true, isDrained: true, expiresAt: 5000 }
      for (let n = 0; n < maxWaiting; n++)
        await outbox.enqueue(sampleRow(`w${String(n).padStart(3, '0')}`, waiting), null)
      assert.equal(await outbox.enqueue(sampleRow('x', waiting), callback(1)), 'full')
      assert.equal(await outbox.settledBy(callback(1)), undefined)
      assert.equal(await outbox.enqueue(sampleRow('y'), callback(1)), 'accepted')
      assert.equal(await outbox.enqueue(sampleRow('z', { ...waiting, instance: 'other' }), null), 'accepted')
      const enqueued = (await audits()).filter((line) => line.startsWith('outbox.enqueue'))
      assert.equal(enqueued.length, 100)
      assert.ok(!enqueued.includes('outbox.enqueue y'))
    })

    test('messages that come at once do not pass the limit together', async () => {
      await using stage = await setUp()
      const { outbox } = stage
      const waiting = { isWaiting: true, isDrained: true, expiresAt: 5000 }
      for (let n = 0; n < maxWaiting - 3; n++)
        await outbox.enqueue(sampleRow(`w${String(n).padStart(3, '0')}`, waiting), null)
      const rush = Array.from({ length: 10 }, (_, n) => outbox.enqueue(sampleRow(`x${n}`, waiting), null))
      const accepted = (await Promise.all(rush)).filter((stored) => stored === 'accepted')
      assert.deepEqual([accepted.length, await outbox.countWaiting('shop')], [3, maxWaiting])
    })

    test('a row is claimed once, and not after its time', async () => {
      await using stage = await setUp()
      const { outbox, transitions } = stage
      await outbox.enqueue(sampleRow('a', { expiresAt: 5000, isWaiting: true }), null)
      assert.equal(await transitions.claim('shop', 'a', 5000, part('unknown'), 'jid'), false)
      const claims = await Promise.all(
        [1, 2, 3].map(() => transitions.claim('shop', 'a', 4999, part('unknown'), 'jid')),
      )
      assert.deepEqual(claims.filter(Boolean), [true])
      const row = await outbox.find('a')
      assert.deepEqual(
        [row?.status, row?.attempts, row?.isUnconfirmed, row?.parts],
        ['sending', 1, true, part('unknown')],
      )
    })

    test('of drain and expiry of one row exactly one happens', async () => {
      await using stage = await setUp()
      const { outbox, transitions } = stage
      for (let round = 0; round < 10; round++) {
        const id = `r${round}`
        await outbox.enqueue(sampleRow(id, { expiresAt: 5000, isWaiting: true }), null)
        const row = await outbox.find(id)
        assert.ok(row)
        const [claimed, expired] = await Promise.all([
          transitions.claim('shop', id, 4999, part('unknown'), 'jid'),
          transitions.expire(row, 'time over', 5000),
        ])
        assert.equal(Number(claimed) + Number(expired), 1)
      }
    })

    test('sent, failed and expired are counted over all history and audited with the change', async () => {
      await using stage = await setUp()
      const { outbox, transitions, audits } = stage
      for (const id of ['a', 'b', 'c', 'd'])
        await outbox.enqueue(sampleRow(id, { expiresAt: 5000, isWaiting: true }), null)
      await transitions.claim('shop', 'a', 2000, part('unknown'), 'jid')
      assert.equal(await transitions.markSent({ id: 'a', instance: 'shop' }, part('sent'), 2000, []), true)
      assert.equal(await transitions.markSent({ id: 'a', instance: 'shop' }, part('sent'), 2000, []), false)
      const [b, c] = await Promise.all([outbox.find('b'), outbox.find('c')])
      assert.ok(b && c)
      assert.equal(await transitions.fail(b, 'refused', 3000, 3000), true)
      assert.equal(await transitions.expire(c, 'time over', 6000), true)
      const totals = { pending: 1, sent: 1, expired: 1, failed: 1, oldestPendingAt: 1000 }
      assert.deepEqual(await outbox.totals('shop'), totals)
      await outbox.prune(10_000, 10_000)
      assert.deepEqual(await outbox.totals('shop'), totals)
      assert.equal(await outbox.find('a'), undefined)
      assert.ok((await audits()).includes('outbox.failed b') && (await audits()).includes('outbox.expire c'))
    })

    test('an unconfirmed row never expires', async () => {
      await using stage = await setUp()
      const { outbox, transitions } = stage
      await outbox.enqueue(sampleRow('a'), null)
      await transitions.claim('shop', 'a', 1500, part('unknown'), 'jid')
      await transitions.postpone('shop', 'a', {
        parts: part('unknown'),
        reason: 'no ack',
        nextAttemptAt: 0,
        counted: 0,
      })
      await transitions.startWaiting('shop', 2000)
      const [due] = await transitions.due('shop', 2000 + waitingLifetimeMs)
      assert.ok(due)
      assert.equal(await transitions.expire(due, 'time over', 2000 + waitingLifetimeMs), false)
    })

    test('a lost connection starts the expiry time of pending rows, and a new connection ends it', async () => {
      await using stage = await setUp()
      const { outbox, transitions, audits } = stage
      await outbox.enqueue(sampleRow('a'), null)
      await outbox.enqueue(sampleRow('b', { expiresAt: 3000, isWaiting: true }), null)
      await transitions.startWaiting('shop', 2000)
      assert.deepEqual([(await outbox.find('a'))?.expiresAt, (await outbox.find('b'))?.expiresAt], [302_000, 3000])
      assert.ok((await audits()).includes('outbox.enqueue a'))
      await transitions.stopWaiting('shop', 4000)
      assert.deepEqual([(await outbox.find('a'))?.expiresAt, (await outbox.find('b'))?.expiresAt], [null, 3000])
      assert.deepEqual(
        (await transitions.due('shop', 4000)).map(({ id }) => id),
        ['b'],
      )
    })

    test('a message that was refused on acceptance is kept and counted nowhere', async () => {
      await using stage = await setUp()
      const { outbox } = stage
      const refusal = { reason: 'spam', lookAt: 2000 }
      assert.equal(await outbox.keepRefused(sampleRow('a'), refusal, callback(70)), true)
      assert.equal(await outbox.keepRefused(sampleRow('b'), refusal, callback(70)), false)
      const { shown, lookAt } = (await outbox.find('a')) ?? {}
      assert.deepEqual([shown, lookAt], ['unsure', 2000])
      assert.deepEqual(await outbox.totals('shop'), {
        pending: 0,
        sent: 0,
        expired: 0,
        failed: 0,
        oldestPendingAt: null,
      })
    })

    test('a callback that was settled ahead is a duplicate when it comes; a callback that has come cannot be settled ahead', async () => {
      await using stage = await setUp()
      const { outbox } = stage
      for (let told = 0; told < 2; told++) assert.equal(await outbox.settleAhead('shop', callback(70), 1000), true)
      assert.equal(await outbox.enqueue(sampleRow('a'), callback(70)), 'duplicate')
      assert.equal(await outbox.keepRefused(sampleRow('a'), { reason: 'spam', lookAt: 1 }, callback(70)), false)
      assert.equal(await outbox.enqueue(sampleRow('b'), callback(71)), 'accepted')
      assert.equal(await outbox.settleAhead('shop', callback(71), 1000), false)
    })

    test('a row that revokes a message neither expires nor fills the queue', async () => {
      await using stage = await setUp()
      const { outbox, transitions, audits } = stage
      await outbox.enqueue(sampleRow('a', { kind: 'revoke', payload: { type: 'revoke', messageId: 70 } }), null)
      await transitions.startWaiting('shop', 2000)
      assert.deepEqual([(await outbox.find('a'))?.expiresAt, await outbox.countWaiting('shop')], [null, 0])
      assert.ok(!(await audits()).includes('outbox.enqueue a'))
    })

    test('an acceptance that is taken back leaves its callback open', async () => {
      await using stage = await setUp()
      const { outbox, transitions } = stage
      await outbox.enqueue(sampleRow('a'), callback(70))
      assert.equal(await transitions.withdraw('shop', 'a', 'too late', 2000), true)
      assert.equal(await outbox.settledBy(callback(70)), undefined)
      assert.equal(await outbox.enqueue(sampleRow('b'), callback(70)), 'accepted')
    })

    test('the next message is compared with the newest message to the chat that did not fail', async () => {
      await using stage = await setUp()
      const { outbox, transitions } = stage
      await outbox.enqueue(sampleRow('a', { fingerprint: 'one' }), null)
      await outbox.enqueue(sampleRow('b', { fingerprint: 'two' }), null)
      assert.equal((await outbox.newestOf('shop', 'p1'))?.fingerprint, 'two')
      const b = await outbox.find('b')
      assert.ok(b)
      await transitions.fail(b, 'refused', 2000, 2000)
      assert.equal((await outbox.newestOf('shop', 'p1'))?.fingerprint, 'one')
      assert.equal(await outbox.newestOf('shop', 'p2'), undefined)
    })

    test('a process that lost the lease moves nothing', async () => {
      await using stage = await setUp()
      const { outbox, transitions, lease } = stage
      await outbox.enqueue(sampleRow('a'), null)
      lease.epoch += 1
      await assert.rejects(transitions.claim('shop', 'a', 1500, part('unknown'), 'jid'), NotHeldError)
      await assert.rejects(outbox.enqueue(sampleRow('b'), null), NotHeldError)
      assert.equal((await outbox.find('a'))?.status, 'pending')
    })
  })
}
