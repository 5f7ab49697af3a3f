import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { OutboxPart } from '../../src/core/outbox.ts'
import { AuditStore } from '../../src/storage/stores/ledger/audit-store.ts'
import { LeaseStore } from '../../src/storage/stores/lease-store.ts'
import { OutboxTransitions } from '../../src/storage/stores/messages/outbox-transitions.ts'
import type { NewOutboxRow, OutboxRow } from '../../src/storage/stores/messages/outbox-rows.ts'
import { OutboxStore } from '../../src/storage/stores/messages/outbox-store.ts'
import { RetryStore } from '../../src/storage/stores/messages/retry-store.ts'
import { ShownStore } from '../../src/storage/stores/messages/shown-store.ts'
import { engines, newDatabase } from '../harness/databases.ts'
import { holdOf, nodeHold } from '../harness/holds.ts'

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
    const outbox = new OutboxStore(
      database,
      (instance) => holdOf(instance, epoch),
      () => nodeHold(epoch),
    )
    const transitions = new OutboxTransitions(database, (instance) => holdOf(instance, epoch))
    const retries = new RetryStore(database, (instance) => holdOf(instance, epoch))
    const shown = new ShownStore(database, (instance) => holdOf(instance, epoch))
    const stored = async (id = 'a'): Promise<OutboxRow> => {
      const row = await outbox.find(id)
      assert.ok(row)
      return row
    }
    const audits = async () =>
      (await new AuditStore(database).list({ limit: 100 })).map(({ action, target }) => `${action} ${target}`)
    const owned = stack.move()
    return { outbox, transitions, retries, shown, stored, audits, [Symbol.asyncDispose]: () => owned.disposeAsync() }
  }

  describe(`retries on ${engine}`, () => {
    test('a failed row is sent again once per failure', async () => {
      await using stage = await setUp()
      const { outbox, transitions, retries, shown, stored, audits } = stage
      await outbox.enqueue(sample, callback)
      await transitions.fail({ ...(await stored()), parts: refused }, 'refused', 3000, 4000)
      await shown.saveLook(await stored(), 'told', null)
      const failed = await stored()
      const waiting = { isWaiting: true, isDrained: true, expiresAt: 9000 }
      const again = await Promise.all([1, 2].map(() => retries.retry(failed, [], waiting, 5000)))
      assert.deepEqual(again.filter(Boolean), [true])
      const { status, parts, attempts, shown: now, lookAt } = await stored()
      assert.deepEqual([status, parts, attempts, now, lookAt], ['pending', [], 0, 'sent', null])
      assert.equal((await outbox.totals('shop')).failed, 0)
      assert.ok((await audits()).includes('outbox.enqueue a'))
    })

    test('a row whose failure was never shown is not sent again', async () => {
      await using stage = await setUp()
      const { outbox, transitions, retries, shown, stored } = stage
      await outbox.enqueue(sample, callback)
      await shown.noteAnswers(['a'])
      await transitions.fail(await stored(), 'refused', 3000, 4000)
      assert.equal(await retries.retry(await stored(), [], atOnce, 5000), false)
    })

    test('a message that never came is kept with its callback, and its callback is open again when the row is discarded', async () => {
      await using stage = await setUp()
      const { outbox, retries } = stage
      assert.equal(await retries.keepChange({ row: sample, callback, reason: null }, ask), true)
      assert.equal(await retries.keepChange({ row: { ...sample, id: 'b' }, callback, reason: null }, ask), false)
      assert.equal(await outbox.enqueue({ ...sample, id: 'b' }, callback), 'duplicate')
      await retries.discard('shop', 'a')
      assert.equal(await outbox.find('a'), undefined)
      assert.equal(await outbox.enqueue({ ...sample, id: 'b' }, callback), 'accepted')
    })

    test('a message whose callback is still on its way is sent by one of the two rows', async () => {
      await using stage = await setUp()
      const { outbox, retries, stored } = stage
      assert.equal(await retries.keepChange({ row: { ...sample, id: 'z' }, callback: null, reason: null }, ask), true)
      assert.equal(await outbox.enqueue(sample, callback), 'accepted')
      assert.equal((await outbox.ofMessage(place.destination, 70))?.id, 'a', 'the row of the callback counts')
      assert.equal(await retries.retry(await stored('z'), [], atOnce, 5000), false)
      assert.equal((await stored('z')).status, 'refused')
    })

    test('a message without a recipient has nothing to send', async () => {
      await using stage = await setUp()
      const { outbox, retries, stored } = stage
      const row = { ...sample, chatId: '', remoteJid: '' }
      assert.equal(await retries.keepChange({ row, callback: null, reason: 'no recipient' }, ask), true)
      assert.equal(await retries.retry(await stored(), [], atOnce, 5000), false)
      await retries.discard('shop', 'a')
      assert.equal((await stored()).reason, 'no recipient', 'a row with a reason is not discarded')
      assert.equal(await outbox.enqueue({ ...sample, id: 'b' }, callback), 'accepted', 'its callback is open')
    })

    test('sending a refused message settles its callback, also when the row had settled it before', async () => {
      for (const settled of [null, callback]) {
        await using stage = await setUp()
        const { outbox, retries, stored } = stage
        await outbox.keepRefused(sample, { reason: 'full', lookAt: 2000 }, settled)
        assert.equal(await retries.retry(await stored(), [], atOnce, 5000), true)
        assert.equal(await outbox.enqueue({ ...sample, id: 'b' }, callback), 'duplicate')
      }
    })
  })
}
