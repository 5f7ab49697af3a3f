// What is read of the outbox for many instances at once: the rows to be sent, and what their time limits need.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { LeaseStore } from '../../src/storage/stores/lease-store.ts'
import { OutboxStore } from '../../src/storage/stores/messages/outbox-store.ts'
import { OutboxTransitions } from '../../src/storage/stores/messages/outbox-transitions.ts'
import { engines, newDatabase } from '../harness/databases.ts'
import type { EngineName } from '../../src/storage/database.ts'
import { holds } from '../harness/holds.ts'
import { sampleOutboxRow } from '../harness/samples.ts'

async function open(engine: EngineName) {
  await using stack = new AsyncDisposableStack()
  const { database } = stack.use(await newDatabase(engine))
  await new LeaseStore(database).acquire('me', 60_000)
  const outbox = new OutboxStore(database, holds.holdOf, holds.nodeHold)
  const transitions = new OutboxTransitions(database, holds.holdOf)
  const owned = stack.move()
  return { database, outbox, transitions, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

for (const engine of engines) {
  describe(`many instances at once, ${engine}`, () => {
    test('instances that are asked for together get their own rows, oldest first', async () => {
      await using opened = await open(engine)
      const { outbox } = opened
      for (const id of ['a2', 'a1']) await outbox.enqueue(sampleOutboxRow(id, { instance: 'a' }), null)
      const quoted = { instance: 'b', chatId: `chat "of" Bob's \\ phone`, conversationId: null, messageId: 2 ** 40 }
      await outbox.enqueue(sampleOutboxRow('b1', quoted), null)
      const [a, b, none] = await Promise.all(['a', 'b', 'none'].map((instance) => outbox.live(instance)))
      assert.deepEqual(
        a?.map(({ id, instance }) => [id, instance]),
        [
          ['a1', 'a'],
          ['a2', 'a'],
        ],
      )
      assert.deepEqual(b, [
        {
          ...{ id: 'b1', instance: 'b', kind: 'message', destination: 'https://desk|1|7', isSending: false },
          ...{ chatId: `chat "of" Bob's \\ phone`, conversationId: null, messageId: 2 ** 40, isLimitless: true },
        },
      ])
      assert.deepEqual(none, [])
    })

    test('a row says whether it is being sent, and whether it would wait without a limit', async () => {
      await using opened = await open(engine)
      const { outbox, transitions } = opened
      const flags = async () =>
        (await outbox.live('shop')).map(({ id, isSending, isLimitless }) => [id, isSending, isLimitless])
      await outbox.enqueue(sampleOutboxRow('1'), null)
      await outbox.enqueue(sampleOutboxRow('2', { kind: 'revoke' }), null)
      assert.deepEqual(await flags(), [
        ['1', false, true],
        ['2', false, false],
      ])
      await transitions.claim('shop', '1', 0, [], 'bob@s.whatsapp.net')
      await transitions.startWaiting('shop', 0)
      assert.deepEqual(await flags(), [
        ['1', true, false],
        ['2', false, false],
      ])
    })

    test('the time limits of each instance say what is to be done', async () => {
      await using opened = await open(engine)
      const { outbox, transitions } = opened
      await outbox.enqueue(sampleOutboxRow('limitless', { instance: 'limitless' }), null)
      const waits = { isWaiting: true, isDrained: true }
      await outbox.enqueue(sampleOutboxRow('limited', { instance: 'limited', ...waits, expiresAt: 101 }), null)
      await outbox.enqueue(sampleOutboxRow('overdue', { instance: 'overdue', ...waits, expiresAt: 100 }), null)
      await outbox.enqueue(sampleOutboxRow('other', { instance: 'other', ...waits, expiresAt: 100 }), null)
      const needs = await transitions.timeNeeds(['limitless', 'limited', 'overdue', 'none'], 100)
      const nothing = { isLimitless: false, isOverdue: false, isLimited: false }
      assert.deepEqual(Object.fromEntries(needs), {
        limitless: { ...nothing, isLimitless: true },
        limited: { ...nothing, isLimited: true },
        overdue: { ...nothing, isOverdue: true },
      })
    })
  })
}
