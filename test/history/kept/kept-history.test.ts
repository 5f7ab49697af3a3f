// The history that the phone sends is stored before the next piece is read, also across restarts, and ends with its instance.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createIgnoreRule } from '../../../src/bridge/inbound/ignored-chats.ts'
import { People } from '../../../src/bridge/people/people.ts'
import { parseChat } from '../../../src/core/address.ts'
import type { Chat } from '../../../src/core/address.ts'
import type { PastChat } from '../../../src/core/history/past-events.ts'
import type { MessageEvent } from '../../../src/core/message.ts'
import { HistoryPruner } from '../../../src/history/kept/history-pruner.ts'
import { KeptHistory } from '../../../src/history/kept/kept-history.ts'
import { createRowIds } from '../../../src/lib/row-ids.ts'
import { StorageError } from '../../../src/storage/engine/statement.ts'
import type { HistoryStore } from '../../../src/storage/stores/history/history-store.ts'
import { message } from '../../bridge/inbound/harness/bridge-bed.ts'
import { engines, newDatabase } from '../../harness/databases.ts'
import { ManualClock } from '../../harness/manual-clock.ts'
import { sampleAudit, sampleInstance } from '../../harness/samples.ts'
import { openStores } from '../../storage/harness/all-stores.ts'
import { holdOf, holds } from '../../harness/holds.ts'

const bob = '5511888880001@s.whatsapp.net'
const ann = '5511888880002@s.whatsapp.net'
const team = '120363000000000001@g.us'
const day = 86_400_000

/** The part of a chat that a piece brings. */
function past(jid: string, ids: readonly string[], changes: Partial<MessageEvent> = {}, chat?: Chat): PastChat {
  const events = ids.map((id, n) => ({ event: message(id, { id, at: 1000 + n, ...changes }), position: n }))
  const oldest = { key: { chat: jid, id: ids[0] ?? 'older', fromMe: false, participant: null }, at: 1000 }
  return { jid, chat: chat ?? parseChat(jid) ?? assert.fail(jid), events, leftOut: 0, oldest }
}

for (const engine of engines) {
  const setUp = async ({ isOn = true } = {}) => {
    await using stack = new AsyncDisposableStack()
    const { database } = stack.use(await newDatabase(engine))
    const stores = await openStores(database)
    const { history, instances } = stores
    const clock = new ManualClock()
    const newId = createRowIds(clock)
    const people = new People({ store: stores.people, ...holds, newId, clock })
    const told: string[] = []
    const pairing = {
      kept: (instance: string) => Promise.resolve(void told.push(`kept ${instance}`)),
      ended: (instance: string) => void told.push(`ended ${instance}`),
    }
    const isGroup = createIgnoreRule(['*@g.us'])
    const isIgnored = (_: string, chat: Chat) => isGroup(chat)
    const start = (store: Pick<HistoryStore, 'keep'> = history) => {
      const kept = new KeptHistory({ isOn, store, people, pairing, isIgnored, ...holds, newId, clock })
      kept.take('shop')
      return kept
    }
    await instances.insert(holdOf('shop'), sampleInstance('shop'), sampleAudit())
    const pending = async (...jids: string[]) =>
      (await history.pending('shop', jids, { since: 0, after: null, limit: 9999 })).map(({ event }) => event.id)
    const owned = stack.move()
    return {
      ...{ stores, history, clock, people, told, pairing, start, pending },
      [Symbol.asyncDispose]: () => owned.disposeAsync(),
    }
  }

  describe(`the history that the phone sends, on ${engine}`, () => {
    test('the messages of a piece are stored with the anchors of their chats', async () => {
      await using stage = await setUp()
      const kept = stage.start()
      await kept.onPastEvents('shop', 'request', [past(bob, ['a', 'b']), past(ann, []), past(bob, ['c'])])
      assert.deepEqual(await stage.pending(bob), ['a', 'c', 'b'])
      assert.equal((await stage.history.anchorOf('shop', [bob]))?.key.id, 'a')
      assert.equal((await stage.history.anchorOf('shop', [ann]))?.key.id, 'older')
      assert.deepEqual(stage.told, [])
    })

    test('a piece that comes again after a restart stores nothing twice', async () => {
      await using stage = await setUp()
      await stage.start().onPastEvents('shop', 'pairing', [past(bob, ['a', 'b'])])
      await stage.start().onPastEvents('shop', 'pairing', [past(bob, ['a', 'b', 'c'])])
      assert.deepEqual(await stage.pending(bob), ['a', 'b', 'c'])
    })

    test('messages of the last 30 days are kept', async () => {
      await using stage = await setUp()
      assert.equal(stage.start().keepsSince(), stage.clock.now() - 30 * day)
    })

    test('nothing is kept while imports are switched off', async () => {
      await using stage = await setUp({ isOn: false })
      const kept = stage.start()
      assert.equal(kept.keepsSince(), null)
      await kept.onPastEvents('shop', 'pairing', [past(bob, ['a'])])
      assert.deepEqual([await stage.history.chats('shop'), stage.told], [[], []])
    })

    test('an ignored chat is not kept', async () => {
      await using stage = await setUp()
      await stage.start().onPastEvents('shop', 'pairing', [past(team, ['a'])])
      assert.deepEqual([await stage.history.chats('shop'), stage.told], [[], []])
    })

    test('the import of a pairing hears of kept messages and of their end', async () => {
      await using stage = await setUp()
      const kept = stage.start()
      await kept.onPastEvents('shop', 'pairing', [past(bob, [])])
      assert.deepEqual(stage.told, [])
      await kept.onPastEvents('shop', 'pairing', [past(bob, ['a'])])
      kept.onPastProgress('shop', { isLast: false })
      kept.onPastProgress('shop', { isLast: true })
      assert.deepEqual(stage.told, ['kept shop', 'ended shop'])
    })

    test('a chat under a phone number and under an anonymous id belongs to one person', async () => {
      await using stage = await setUp()
      const person = { kind: 'person' as const, phone: '5511888880001', lid: '990001' }
      await stage.start().onPastEvents('shop', 'pairing', [past('990001@lid', ['a'], {}, person), past(ann, ['b'])])
      const byPhone = await stage.people.lookUp('shop', { phone: '5511888880001', lid: null })
      assert.ok(byPhone)
      assert.deepEqual(await stage.people.lookUp('shop', { phone: null, lid: '990001' }), byPhone)
      assert.equal(await stage.people.lookUp('shop', { phone: '5511888880002', lid: null }), undefined)
    })

    test('a large piece is stored in several commits, the anchors last', async () => {
      await using stage = await setUp()
      const commits: [rows: number, anchors: number][] = []
      const keep: HistoryStore['keep'] = (hold, rows, anchors) => {
        commits.push([rows.length, anchors.size])
        return stage.history.keep(hold, rows, anchors)
      }
      const ids = Array.from({ length: 1200 }, (_, n) => `m${n}`)
      await stage.start({ keep }).onPastEvents('shop', 'pairing', [past(bob, ids)])
      assert.deepEqual(commits, [
        [500, 0],
        [500, 0],
        [200, 1],
      ])
      assert.deepEqual(await stage.pending(bob), ids)
    })

    test('a piece that storage does not take is refused, and is stored when it comes again', async () => {
      await using stage = await setUp()
      let failures = 1
      const keep: HistoryStore['keep'] = (...piece) =>
        failures-- > 0 ? Promise.reject(new StorageError('unavailable', 'away')) : stage.history.keep(...piece)
      const kept = stage.start({ keep })
      await assert.rejects(kept.onPastEvents('shop', 'pairing', [past(bob, ['a'])]), /away/)
      assert.deepEqual(stage.told, [])
      await kept.onPastEvents('shop', 'pairing', [past(bob, ['a'])])
      assert.deepEqual([await stage.pending(bob), stage.told], [['a'], ['kept shop']])
    })

    test('a piece whose job could not be stored is refused', async () => {
      await using stage = await setUp()
      stage.pairing.kept = () => Promise.reject(new StorageError('unavailable', 'away'))
      await assert.rejects(stage.start().onPastEvents('shop', 'pairing', [past(bob, ['a'])]), /away/)
    })

    test('an instance that is deleted while pieces arrive leaves nothing behind', async () => {
      await using stage = await setUp()
      const { stores, history, clock } = stage
      const begun = Promise.withResolvers<undefined>()
      const gate = Promise.withResolvers<undefined>()
      const keep: HistoryStore['keep'] = async (...piece) => {
        begun.resolve(undefined)
        await gate.promise
        await history.keep(...piece)
      }
      const kept = stage.start({ keep })
      const underWay = kept.onPastEvents('shop', 'pairing', [past(bob, ['a'])])
      // Refused: the instance leaves before it is its turn.
      const next = assert.rejects(kept.onPastEvents('shop', 'pairing', [past(bob, ['b'])]), /not served/)
      await begun.promise
      let hasLeft = false
      const left = kept.leave('shop').then(() => {
        hasLeft = true
      })
      await new Promise(setImmediate)
      assert.equal(hasLeft, false)
      gate.resolve(undefined)
      await Promise.all([underWay, next, left])
      assert.equal(await history.count('shop'), 1)
      await stores.instances.remove(holdOf('shop'), null, sampleAudit())
      await new HistoryPruner({ store: stores.historyRemoval, ...holds, clock }).forget('shop')
      await assert.rejects(kept.onPastEvents('shop', 'pairing', [past(bob, ['c'])]), /not served/)
      // Another process that has not noticed the deletion yet.
      await assert.rejects(stage.start().onPastEvents('shop', 'pairing', [past(bob, ['d'])]), {
        failure: 'expectation',
      })
      assert.deepEqual([await history.chats('shop'), await history.count('shop')], [[], 0])
    })

    test('the sweep removes what is too old, and what a deleted instance has left', async () => {
      await using stage = await setUp()
      const { stores, history, clock, pending } = stage
      const kept = stage.start()
      await kept.onPastEvents('shop', 'pairing', [
        past(bob, ['old'], { at: clock.now() - 31 * day }),
        past(ann, ['young'], { at: clock.now() - 29 * day }),
      ])
      await stores.instances.insert(holdOf('shop'), sampleInstance('gone'), sampleAudit())
      kept.take('gone')
      await kept.onPastEvents('gone', 'pairing', [past(bob, ['x'])])
      await stores.instances.remove(holdOf('gone'), null, sampleAudit())
      await new HistoryPruner({ store: stores.historyRemoval, ...holds, clock }).run()
      assert.deepEqual([await pending(bob, ann), await history.chats('gone')], [['young'], []])
      // The phone can still be asked for what is older.
      assert.equal((await history.anchorOf('shop', [bob]))?.key.id, 'old')
    })
  })
}
