import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { OutboxPart } from '../../src/core/outbox.ts'
import { AuditStore } from '../../src/storage/stores/ledger/audit-store.ts'
import { LeaseStore } from '../../src/storage/stores/lease-store.ts'
import { OutboxTransitions } from '../../src/storage/stores/messages/outbox-transitions.ts'
import type { NewOutboxRow, OutboxRow } from '../../src/storage/stores/messages/outbox-rows.ts'
import { OutboxStore } from '../../src/storage/stores/messages/outbox-store.ts'
import { RetryStore } from '../../src/storage/stores/messages/retry-store.ts'
import { engines, newDatabase } from '../harness/databases.ts'

const place = { instance: 'shop', destination: 'https://desk|1|1' }
const callback = { ...place, kind: 'message_created', eventId: 70 }
const ask = { at: 5000, until: 6000 }
const atOnce = { isWaiting: false, isDrained: false, expiresAt: null }

const sample: NewOutboxRow = {
  ...{ ...place, id: 'a', kind: 'message', ownerTag: 'acme', inboxId: 0, chatId: 'p1', ...atOnce },
  ...{ remoteJid: '5511999990001@s.whatsapp.net', conversationId: 7, messageId: 70 },
  ...{ fingerprint: null, createdAt: 1000 },
  payload: { type: 'message', content: 'hello', attachments: [], inReplyTo: null, agentName: null },
}

const refused: OutboxPart[] = [{ id: 'W1', of: 'text', state: 'refused' }]

for (const engine of engines) {
  const setUp = async () => {
    await using stack = new AsyncDisposableStack()
    const { database } = stack.use(await newDatabase(engine, [Buffer.alloc(32, 1)]))
    const epoch = (await new LeaseStore(database).acquire('test', 60_000)) ?? 0
    const outbox = new OutboxStore(database, () => epoch)
    const transitions = new OutboxTransitions(database, () => epoch)
    const retries = new RetryStore(database, () => epoch)
    const stored = async (id = 'a'): Promise<OutboxRow> => {
      const row = await outbox.find(id)
      assert.ok(row)
      return row
    }
    const audits = async () =>
      (await new AuditStore(database).list({ limit: 100 })).map(({ action, target }) => `${action} ${target}`)
    const owned = stack.move()
    return { outbox, transitions, retries, stored, audits, [Symbol.asyncDispose]: () => owned.disposeAsync() }
  }

  describe(`retries on ${engine}`, () => {
    test('a failed row is asked for and sent again once, and only after the helpdesk was told', async () => {
      await using stage = await setUp()
      const { outbox, transitions, retries, stored, audits } = stage
      await outbox.enqueue(sample, callback)
      await transitions.fail({ ...(await stored()), parts: refused }, 'refused', 3000, 4000)
      const failed = await stored()
      assert.equal(await retries.ask(failed, ask), false)
      assert.deepEqual(await transitions.dueReports(3999, 10), [])
      await transitions.saveReport('a', 'done', 4100)
      assert.equal(await retries.retry(failed, [], atOnce, 5000), false, 'nobody has asked')
      const asks = await Promise.all([retries.ask(failed, ask), retries.ask(failed, ask)])
      assert.deepEqual(asks.filter(Boolean), [true])
      assert.deepEqual([(await retries.asked(4999, 10)).length, (await retries.asked(5000, 10)).length], [0, 1])
      const waiting = { isWaiting: true, isDrained: true, expiresAt: 9000 }
      const again = await Promise.all([1, 2].map(() => retries.retry(failed, [], waiting, 5000)))
      assert.deepEqual(again.filter(Boolean), [true])
      const { status, parts, attempts } = await stored()
      assert.deepEqual([status, parts, attempts], ['pending', [], 0])
      assert.equal((await outbox.totals('shop')).failed, 0)
      assert.ok((await audits()).includes('outbox.enqueue a'))
    })

    test('a retry that is not wanted after all leaves the row as it was, and can be asked for later', async () => {
      await using stage = await setUp()
      const { outbox, transitions, retries, stored } = stage
      await outbox.keepRefused(sample, { reason: 'spam', reportAt: 2000 }, callback)
      await transitions.saveReport('a', 'done', 2000)
      assert.equal(await retries.ask(await stored(), ask), true)
      await retries.leaveAlone(await stored())
      assert.equal((await stored()).report, 'done')
      assert.equal(await retries.ask(await stored(), ask), true)
      await retries.askLater('a', 8000)
      assert.deepEqual([(await retries.asked(7999, 10)).length, (await retries.asked(8000, 10)).length], [0, 1])
      await retries.refuseRetry(await stored(), 'other', 9000)
      const { report, reportAt, reason } = await stored()
      assert.deepEqual([report, reportAt, reason], ['due', 9000, 'spam'])
    })

    test('a message that never came is kept with its callback, and forgotten when its retry is not wanted', async () => {
      await using stage = await setUp()
      const { outbox, retries, stored } = stage
      assert.equal(await retries.keepAsked({ row: sample, callback }, ask), true)
      assert.equal(await retries.keepAsked({ row: { ...sample, id: 'b' }, callback }, ask), false)
      assert.equal(await outbox.enqueue({ ...sample, id: 'b' }, callback), 'duplicate')
      await retries.leaveAlone(await stored())
      assert.equal(await outbox.find('a'), undefined)
      assert.equal(await outbox.enqueue({ ...sample, id: 'b' }, callback), 'accepted')
    })

    test('a retry that can only be refused has nothing to send', async () => {
      await using stage = await setUp()
      const { outbox, retries, stored } = stage
      const row = { ...sample, chatId: '', remoteJid: '' }
      assert.equal(await retries.keepAsked({ row, refusal: 'nobody there' }, ask), true)
      assert.equal(await outbox.open('a'), undefined)
      assert.equal(await retries.retry(await stored(), [], atOnce, 5000), false)
      await retries.refuseRetry(await stored(), 'other', 6000)
      assert.equal((await stored()).reason, 'nobody there')
      assert.equal(await outbox.enqueue({ ...sample, id: 'b' }, callback), 'accepted', 'its callback is open')
    })

    test('sending a refused message settles its callback', async () => {
      await using stage = await setUp()
      const { outbox, transitions, retries, stored } = stage
      await outbox.keepRefused(sample, { reason: 'full', reportAt: 2000 }, null)
      await transitions.saveReport('a', 'done', 2000)
      await retries.ask(await stored(), ask)
      assert.equal(await retries.retry(await stored(), [], atOnce, 5000), true)
      assert.equal(await outbox.enqueue({ ...sample, id: 'b' }, callback), 'duplicate')
    })
  })
}
