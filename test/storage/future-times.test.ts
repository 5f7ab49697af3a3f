import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { correctFutureTimes } from '../../src/storage/stores/future-times.ts'
import { LeaseStore } from '../../src/storage/stores/lease-store.ts'
import { FirstCallbackStore } from '../../src/storage/stores/messages/first-callback-store.ts'
import type { NewOutboxRow } from '../../src/storage/stores/messages/outbox-rows.ts'
import { OutboxStore } from '../../src/storage/stores/messages/outbox-store.ts'
import { ShownStore } from '../../src/storage/stores/messages/shown-store.ts'
import { engines, newDatabase } from '../harness/databases.ts'
import { sampleInstanceColumns } from '../harness/samples.ts'

const now = 1_800_000_000_000
const minute = 60_000
const hour = 60 * minute

function sampleRow(id: string, changes: Partial<NewOutboxRow> = {}): NewOutboxRow {
  return {
    ...{ id, kind: 'message', instance: 'shop', ownerTag: '', inboxId: 0, destination: 'https://desk|1|1' },
    ...{ chatId: 'p1', remoteJid: '5511999990001@s.whatsapp.net', conversationId: 7, messageId: 70 },
    ...{ isWaiting: false, isDrained: false, expiresAt: null, fingerprint: null, createdAt: now },
    payload: { type: 'message', content: 'hello', attachments: [], inReplyTo: null, agentName: null },
    ...changes,
  }
}

for (const engine of engines) {
  const setUp = async () => {
    await using stack = new AsyncDisposableStack()
    const { database } = stack.use(await newDatabase(engine))
    const epoch = (await new LeaseStore(database).acquire('test', 60_000)) ?? 0
    const outbox = new OutboxStore(database, () => epoch)
    const shown = new ShownStore(database, () => epoch)
    const row = async (id: string) => (await outbox.find(id)) ?? assert.fail(`no row ${id}`)
    const correct = () => correctFutureTimes(database, epoch, now)
    const owned = stack.move()
    return { database, epoch, outbox, shown, row, correct, [Symbol.asyncDispose]: () => owned.disposeAsync() }
  }

  describe(`times that a clock an hour ahead stored, on ${engine}`, () => {
    test('a message that waits for a connection expires in five minutes', async () => {
      await using stage = await setUp()
      const { outbox, row, correct } = stage
      await outbox.enqueue(sampleRow('ahead', { isWaiting: true, expiresAt: now + hour + 5 * minute }), null)
      await outbox.enqueue(sampleRow('right', { isWaiting: true, messageId: 71, expiresAt: now + 4 * minute }), null)
      await correct()
      assert.equal((await row('ahead')).expiresAt, now + 5 * minute)
      assert.equal((await row('right')).expiresAt, now + 4 * minute)
    })

    test('a look that is planned for later than its row is old is due, and other looks stay', async () => {
      await using stage = await setUp()
      const { outbox, shown, row, correct } = stage
      const looks = {
        ahead: [now + hour, now + hour],
        asked: [now - minute, now + hour],
        old: [now - 3 * hour, now + hour],
      }
      for (const [index, [id, [createdAt = 0, lookAt = 0]]] of Object.entries(looks).entries()) {
        await outbox.enqueue(sampleRow(id, { createdAt, messageId: index + 1 }), null)
        await shown.planLook(id, lookAt)
      }
      const { lookAt: planned } = await row('old')
      await correct()
      assert.equal((await row('ahead')).lookAt, now)
      assert.equal((await row('asked')).lookAt, now)
      assert.equal((await row('old')).lookAt, planned)
    })

    test('a delivery is tried at once and keeps its lifetime', async () => {
      await using stage = await setUp()
      const { database, correct } = stage
      const delivery = { event_id: 'e', event: 'connected', instance: 'shop', url: 'https://a', attempts: 0 } as const
      const body = { seal: Buffer.from('{}'), place: '' }
      const at = now + hour
      const times = { created_at: at, next_at: at + 1000, expires_at: at + 20_000, status: 'pending' } as const
      await database.write(
        database.query.insertInto('deliveries').values({ ...delivery, id: 'ahead', body, ...times }),
        database.query
          .insertInto('deliveries')
          .values({ ...delivery, id: 'right', body, ...times, created_at: now - hour, expires_at: null }),
      )
      await correct()
      const query = database.query.selectFrom('deliveries').select(['next_at', 'expires_at']).orderBy('id')
      assert.deepEqual(await database.read(query), [
        { next_at: now, expires_at: now + 20_000 },
        { next_at: at + 1000, expires_at: null },
      ])
    })

    test('the first callback of a destination and the creation of an instance count as now', async () => {
      await using stage = await setUp()
      const { database, epoch, correct } = stage
      const first = new FirstCallbackStore(database, () => epoch)
      await first.note('https://desk|1|1', now + hour)
      await first.note('https://desk|1|2', now - hour)
      const columns = { ...sampleInstanceColumns('shop'), created_at: now + hour }
      await database.write(database.query.insertInto('instances').values(columns))
      await correct()
      assert.equal(await first.find('https://desk|1|1'), now)
      assert.equal(await first.find('https://desk|1|2'), now - hour)
      const [instance] = await database.read(database.query.selectFrom('instances').select('created_at'))
      assert.equal(instance?.created_at, now)
    })

    test('a process that lost the lease corrects nothing', async () => {
      await using stage = await setUp()
      await assert.rejects(correctFutureTimes(stage.database, stage.epoch + 1, now), { failure: 'expectation' })
    })
  })
}
