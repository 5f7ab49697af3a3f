import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { correctFutureTimes } from '../../src/storage/stores/future-times.ts'
import { LeaseStore } from '../../src/storage/stores/lease-store.ts'
import { FirstCallbackStore } from '../../src/storage/stores/messages/first-callback-store.ts'
import type { NewOutboxRow } from '../../src/storage/stores/messages/outbox-rows.ts'
import { OutboxStore } from '../../src/storage/stores/messages/outbox-store.ts'
import { RequestKeyStore } from '../../src/storage/stores/messages/request-key-store.ts'
import { ShownStore } from '../../src/storage/stores/messages/shown-store.ts'
import { engines, newDatabase } from '../harness/databases.ts'
import { sampleInstanceColumns } from '../harness/samples.ts'
import { holdOf, nodeHold } from '../harness/holds.ts'

const now = 1_800_000_000_000
const minute = 60_000
const hour = 60 * minute
const day = 24 * hour

function sampleRow(id: string, changes: Partial<NewOutboxRow> = {}): NewOutboxRow {
  return {
    ...{ id, kind: 'message', instance: 'shop', ownerTag: '', inboxId: 0, destination: 'https://desk|1|1' },
    ...{ chatId: 'p1', remoteJid: '5511999990001@s.whatsapp.net', conversationId: 7, messageId: 70 },
    ...{ isWaiting: false, isDrained: false, expiresAt: null, fingerprint: null, createdAt: now },
    payload: { type: 'message', content: 'hello', attachments: [], inReplyTo: null, agentName: null },
    ...changes,
  }
}

type DeliveryTimes = { created_at: number; next_at: number; expires_at: number | null }

for (const engine of engines) {
  const setUp = async () => {
    await using stack = new AsyncDisposableStack()
    const { database } = stack.use(await newDatabase(engine))
    const epoch = (await new LeaseStore(database).acquire('test', 60_000)) ?? 0
    const outbox = new OutboxStore(
      database,
      (instance) => holdOf(instance, epoch),
      () => nodeHold(epoch),
    )
    const shown = new ShownStore(database, (instance) => holdOf(instance, epoch))
    const row = async (id: string) => (await outbox.find(id)) ?? assert.fail(`no row ${id}`)
    const correct = (at = now) => correctFutureTimes(database, nodeHold(epoch), at)
    const deliver = (id: string, times: DeliveryTimes) => {
      const delivery = { event_id: 'e', event: 'connected', instance: 'shop', url: 'https://a', attempts: 0 } as const
      const pending = { ...delivery, id, body: { seal: Buffer.from('{}'), place: '' }, status: 'pending' } as const
      return database.write(database.query.insertInto('deliveries').values({ ...pending, ...times }))
    }
    const deliveries = () =>
      database.read(
        database.query.selectFrom('deliveries').select(['created_at', 'next_at', 'expires_at']).orderBy('id'),
      )
    const owned = stack.move()
    return {
      ...{ database, epoch, outbox, shown, row, correct, deliver, deliveries },
      [Symbol.asyncDispose]: () => owned.disposeAsync(),
    }
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

    test('a key of a request counts for a day, and not for longer', async () => {
      await using stage = await setUp()
      const { outbox, correct, database, epoch } = stage
      const requests = new RequestKeyStore(database, () => nodeHold(epoch))
      const key = (requestKey: string) => ({ instance: 'shop', requestKey, fingerprint: '' })
      await outbox.enqueue(sampleRow('ahead', { createdAt: now + hour, messageId: null }), key('ahead'))
      await outbox.enqueue(sampleRow('right', { createdAt: now - hour, messageId: null }), key('right'))
      await correct()
      const isKnown = async (name: string, at: number) => (await requests.find('shop', name, at)) !== undefined
      assert.deepEqual([await isKnown('ahead', now + day - 1), await isKnown('ahead', now + day)], [true, false])
      assert.deepEqual(
        [await isKnown('right', now + 23 * hour - 1), await isKnown('right', now + 23 * hour)],
        [true, false],
      )
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
        await shown.planLook('shop', id, lookAt)
      }
      const { lookAt: planned } = await row('old')
      await correct()
      assert.equal((await row('ahead')).lookAt, now)
      assert.equal((await row('asked')).lookAt, now)
      assert.equal((await row('old')).lookAt, planned)
    })

    test('a delivery is tried at once and keeps its lifetime, also when the times are corrected twice', async () => {
      await using stage = await setUp()
      const { deliver, deliveries, correct } = stage
      const at = now + hour
      await deliver('ahead', { created_at: at, next_at: at + 1000, expires_at: at + 20_000 })
      await deliver('right', { created_at: now - hour, next_at: at + 1000, expires_at: null })
      for (const again of [0, 5000]) {
        await correct(now + again)
        assert.deepEqual(await deliveries(), [
          { created_at: now, next_at: now, expires_at: now + 20_000 },
          { created_at: now - hour, next_at: at + 1000, expires_at: null },
        ])
      }
    })

    test('an older delivery whose next attempt is later than the longest pause is tried at once', async () => {
      await using stage = await setUp()
      const { deliver, deliveries, correct } = stage
      const created_at = now - hour
      await deliver('ahead', { created_at, next_at: now + 30 * day, expires_at: null })
      await deliver('right', { created_at, next_at: now + day, expires_at: null })
      await correct()
      assert.deepEqual(await deliveries(), [
        { created_at, next_at: now, expires_at: null },
        { created_at, next_at: now + day, expires_at: null },
      ])
    })

    test('a ban that ends later than any ban is waited for like one without a known end', async () => {
      await using stage = await setUp()
      const { database, correct } = stage
      for (const [name, retry_at] of Object.entries({ ahead: now + 91 * day, right: now + 89 * day })) {
        await database.write(
          database.query.insertInto('instances').values({ ...sampleInstanceColumns(name), created_at: now, retry_at }),
        )
      }
      await correct()
      const query = database.query.selectFrom('instances').select('retry_at').orderBy('name')
      assert.deepEqual(await database.read(query), [{ retry_at: now + hour }, { retry_at: now + 89 * day }])
    })

    test('the first callback of a destination and the creation of an instance count as now', async () => {
      await using stage = await setUp()
      const { database, epoch, correct } = stage
      const first = new FirstCallbackStore(database, () => nodeHold(epoch))
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

    test('a number that was linked or unlinked in the future was so now', async () => {
      await using stage = await setUp()
      const { database, correct } = stage
      const times = { ahead: now + 400 * day, right: now - 400 * day }
      for (const [name, at] of Object.entries(times)) {
        const columns = { ...sampleInstanceColumns(name), linked_at: at, unlinked_at: at }
        await database.write(database.query.insertInto('instances').values(columns))
        const kept = {
          session_id: name,
          name,
          owner_tag: '',
          jid: 'j',
          kept_at: now,
          network_proxy: null,
          linked_at: at,
        }
        await database.write(database.query.insertInto('kept_sessions').values(kept))
      }
      await correct()
      const { query } = database
      const links = await database.read(
        query.selectFrom('instances').select(['linked_at', 'unlinked_at']).orderBy('name'),
      )
      assert.deepEqual(
        links.map((link) => [link.linked_at, link.unlinked_at]),
        [
          [now, now],
          [times.right, times.right],
        ],
      )
      const kept = await database.read(query.selectFrom('kept_sessions').select('linked_at').orderBy('name'))
      assert.deepEqual(
        kept.map((each) => each.linked_at),
        [now, times.right],
      )
    })

    test('a node whose clock went back corrects only the times of its own instances', async () => {
      await using stage = await setUp()
      const { database, epoch } = stage
      for (const instance of ['a', 'b']) {
        const columns = { ...sampleInstanceColumns(instance), created_at: now + 3_600_000 }
        const last = { instance, in_at: now + 3_600_000, out_at: null }
        await database.write(
          database.query.insertInto('instances').values(columns),
          database.query.insertInto('last_messages').values(last),
        )
      }
      await correctFutureTimes(database, nodeHold(epoch), now, { held: ['a'], withDeleted: false })
      const created = await database.read(database.query.selectFrom('instances').select('created_at').orderBy('name'))
      const seen = await database.read(database.query.selectFrom('last_messages').select('in_at').orderBy('instance'))
      assert.deepEqual(
        [created.map(({ created_at }) => created_at), seen.map(({ in_at }) => in_at)],
        [
          [now, now + 3_600_000],
          [now, now + 3_600_000],
        ],
      )
    })

    test('a process that lost the lease corrects nothing', async () => {
      await using stage = await setUp()
      await assert.rejects(correctFutureTimes(stage.database, nodeHold(stage.epoch + 1), now), {
        failure: 'expectation',
      })
    })
  })
}
