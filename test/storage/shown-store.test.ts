import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { NotHeldError } from '../../src/core/nodes/hold.ts'
import { LeaseStore } from '../../src/storage/stores/lease-store.ts'
import { FirstCallbackStore } from '../../src/storage/stores/messages/first-callback-store.ts'
import type { NewOutboxRow, OutboxRow } from '../../src/storage/stores/messages/outbox-rows.ts'
import { OutboxStore } from '../../src/storage/stores/messages/outbox-store.ts'
import { OutboxTransitions } from '../../src/storage/stores/messages/outbox-transitions.ts'
import { ShownStore } from '../../src/storage/stores/messages/shown-store.ts'
import { engines, newDatabase } from '../harness/databases.ts'
import { holdOf, nodeHold } from '../harness/holds.ts'

function sampleRow(id: string, changes: Partial<NewOutboxRow> = {}): NewOutboxRow {
  return {
    ...{ id, kind: 'message', instance: 'shop', ownerTag: '', inboxId: 0, destination: 'https://desk|1|1' },
    ...{ chatId: 'p1', remoteJid: '5511999990001@s.whatsapp.net', conversationId: 7, messageId: 70 },
    ...{ isWaiting: false, isDrained: false, expiresAt: null, fingerprint: null, createdAt: 1000 },
    payload: { type: 'message', content: 'hello', attachments: [], inReplyTo: null, agentName: null },
    ...changes,
  }
}

for (const engine of engines) {
  const setUp = async () => {
    await using stack = new AsyncDisposableStack()
    const { database } = stack.use(await newDatabase(engine))
    const epoch = (await new LeaseStore(database).acquire('test', 60_000)) ?? 0
    const [outbox, transitions] = [
      new OutboxStore(
        database,
        (instance) => holdOf(instance, epoch),
        () => nodeHold(epoch),
      ),
      new OutboxTransitions(database, (instance) => holdOf(instance, epoch)),
    ]
    const lost = new Set<string>()
    const hooks = { beforeWrite: (): void => undefined }
    const shown = new ShownStore(database, (instance) => {
      hooks.beforeWrite()
      if (lost.has(instance)) throw new NotHeldError(instance)
      return holdOf(instance, epoch)
    })
    const first = new FirstCallbackStore(database, () => nodeHold(epoch))
    const stored = async (id: string): Promise<OutboxRow> => (await outbox.find(id)) ?? assert.fail(`no row ${id}`)
    const dueIds = async (now: number) => (await shown.due(now, 10, 'all')).map(({ id }) => id)
    const owned = stack.move()
    return {
      ...{ outbox, transitions, shown, first, stored, dueIds, lost, hooks },
      [Symbol.asyncDispose]: () => owned.disposeAsync(),
    }
  }

  describe(`what the helpdesk shows, on ${engine}`, () => {
    test('many answers are noted at once; a row without an answer is looked at', async () => {
      await using stage = await setUp()
      const { outbox, shown, stored, dueIds } = stage
      const ids = Array.from({ length: 1200 }, (_, n) => `r${n}`)
      // Each write may wait some seconds for a connection, so a busy machine cannot store all of them at once.
      for (let from = 0; from < ids.length; from += 50) {
        const some = ids.slice(from, from + 50)
        await Promise.all(some.map((id, n) => outbox.enqueue(sampleRow(id, { messageId: from + n + 1 }), null)))
      }
      await outbox.enqueue(sampleRow('unanswered'), null)
      await outbox.enqueue(sampleRow('young', { createdAt: 9000 }), null)
      await outbox.enqueue(sampleRow('without a message', { messageId: null }), null)
      await shown.noteAnswers(ids)
      assert.deepEqual([(await stored('r0')).shown, (await stored('r1199')).shown], ['sent', 'sent'])
      await shown.planUnsure({ after: 0, before: 5000 }, 12_000, 'all')
      assert.deepEqual([await dueIds(11_999), await dueIds(12_000)], [[], ['unanswered']])
    })

    test('an instance that is lost does not keep the rows of others from being noted', async () => {
      await using stage = await setUp()
      const { outbox, shown, stored, lost } = stage
      for (const [id, instance] of [
        ['a', 'shop'],
        ['b', 'lost'],
        ['c', 'desk'],
      ] as const) {
        await outbox.enqueue(sampleRow(id, { instance }), null)
      }
      lost.add('lost')
      await assert.rejects(shown.noteAnswers(['a', 'b', 'c']), NotHeldError)
      const all = await Promise.all(['a', 'b', 'c'].map(stored))
      assert.deepEqual(
        all.map(({ shown }) => shown),
        ['sent', 'unsure', 'sent'],
      )
    })

    // PostgreSQL does not say which of two writes at once comes first.
    if (engine === 'sqlite') {
      test('a look that was planned since the unsure rows were read stays', async () => {
        await using stage = await setUp()
        const { outbox, shown, stored, hooks } = stage
        await outbox.enqueue(sampleRow('a'), null)
        hooks.beforeWrite = () => {
          hooks.beforeWrite = () => undefined
          void shown.planLook('shop', 'a', 40_000)
        }
        await shown.planUnsure({ after: 0, before: 5000 }, 12_000, 'all')
        assert.equal((await stored('a')).lookAt, 40_000)
      })
    }

    test('an answer does not replace what a look has found', async () => {
      await using stage = await setUp()
      const { outbox, shown, stored } = stage
      await outbox.enqueue(sampleRow('a'), null)
      await shown.planLook('shop', 'a', 2000)
      await shown.saveLook(await stored('a'), 'read', null)
      await shown.noteAnswers(['a'])
      const { shown: now, lookAt } = await stored('a')
      assert.deepEqual([now, lookAt], ['read', null])
    })

    test('a failure that the helpdesk tells of is kept, and plans a look unless one is planned', async () => {
      await using stage = await setUp()
      const { outbox, transitions, shown, stored } = stage
      for (const id of ['refused', 'looked at']) {
        await outbox.enqueue(sampleRow(id), null)
        await transitions.fail(await stored(id), 'refused', 3000, 4000)
      }
      await shown.saveLook(await stored('looked at'), 'sent', null)
      for (const id of ['refused', 'looked at']) await shown.noteFailure('shop', id, 5000)
      const [refused, lookedAt] = [await stored('refused'), await stored('looked at')]
      assert.deepEqual([refused.shown, refused.lookAt], ['failed', 4000])
      assert.deepEqual([lookedAt.shown, lookedAt.lookAt], ['failed', 5000])
      await shown.saveLook(refused, 'told', null)
      await shown.noteFailure('shop', 'refused', 6000)
      assert.deepEqual([(await stored('refused')).shown, (await stored('refused')).lookAt], ['told', null])
    })

    test('needless looks end together, and a look that was planned meanwhile stays', async () => {
      await using stage = await setUp()
      const { outbox, shown, stored, dueIds } = stage
      for (const id of ['a', 'b', 'c']) await outbox.enqueue(sampleRow(id), null)
      for (const id of ['a', 'b', 'c']) await shown.planLook('shop', id, 2000)
      const due = (await shown.due(5000, 10, 'all')).filter(({ id }) => id !== 'c')
      await shown.planLook('shop', 'b', (await stored('b')).lookAt ?? 0)
      await shown.endLooks(due)
      await shown.endLooks([])
      assert.deepEqual([(await stored('a')).lookAt, await dueIds(5000)], [null, ['c', 'b']])
    })

    test('a look that was planned during a look stays, also when all have the same time', async () => {
      await using stage = await setUp()
      const { outbox, shown, stored } = stage
      await outbox.enqueue(sampleRow('a'), null)
      await shown.planLook('shop', 'a', 2000)
      const read = await stored('a')
      await shown.planLook('shop', 'a', 2000)
      await shown.planLook('shop', 'a', 2000)
      await shown.saveLook(read, 'sent', null)
      const { shown: now, lookAt } = await stored('a')
      assert.deepEqual([now, lookAt], ['sent', 2002])
    })

    test('a look at a row that failed meanwhile saves nothing', async () => {
      await using stage = await setUp()
      const { outbox, transitions, shown, stored } = stage
      await outbox.enqueue(sampleRow('a'), null)
      await shown.planLook('shop', 'a', 2000)
      const read = await stored('a')
      await transitions.fail(read, 'no', 2500, 3500)
      await shown.saveLook(read, 'sent', null)
      const { shown: now, lookAt } = await stored('a')
      assert.deepEqual([now, lookAt], ['unsure', 3500])
    })

    test('only a message that will not be sent can be asked for', async () => {
      await using stage = await setUp()
      const { outbox, transitions, shown, stored } = stage
      await outbox.enqueue(sampleRow('a'), null)
      assert.equal(await shown.ask('shop', 'a', { at: 2000, until: 3000 }), false)
      await transitions.fail(await stored('a'), 'no', 2500, 3500)
      assert.equal(await shown.ask('shop', 'a', { at: 2600, until: 3600 }), true)
      const { lookAt, expiresAt } = await stored('a')
      assert.deepEqual([lookAt, expiresAt], [2600, 3600])
    })

    test('the time of a first callback is stored once per destination', async () => {
      await using stage = await setUp()
      const { first } = stage
      assert.equal(await first.find('d1'), undefined)
      await first.note('d1', 1000)
      await first.note('d1', 2000)
      await first.note('d2', 3000)
      assert.deepEqual([await first.find('d1'), await first.find('d2')], [1000, 3000])
    })
  })
}
