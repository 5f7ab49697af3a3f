// The history that the phone sent is stored once, read in the order of the chat, and removed when it is imported.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Anchor } from '../../src/core/history/past-events.ts'
import type { MessageEvent } from '../../src/core/message.ts'
import type { HistoryPlace } from '../../src/storage/stores/history/history-store.ts'
import { message } from '../bridge/inbound/harness/bridge-bed.ts'
import { engines, newDatabase } from '../harness/databases.ts'
import { sampleAudit, sampleInstance } from '../harness/samples.ts'
import { openStores } from './harness/all-stores.ts'
import { holdOf, nodeHold } from '../harness/holds.ts'

const bob = '5511888880001@s.whatsapp.net'
const bobsLid = '990001@lid'
const ann = '5511888880002@s.whatsapp.net'

type Row = Partial<MessageEvent> & { chatJid?: string; position?: number; participant?: string }

function row(id: string, { chatJid = bob, position = 0, participant = '', ...event }: Row = {}) {
  return { id: `row-${id}`, chatJid, position, participant, event: message(`text of ${id}`, { id, ...event }) }
}

function anchor(id: string, at: number): Anchor {
  return { key: { chat: bob, id, fromMe: false, participant: null }, at }
}

const none = new Map<string, Anchor>()

for (const engine of engines) {
  const setUp = async () => {
    await using stack = new AsyncDisposableStack()
    const { database } = stack.use(await newDatabase(engine, [Buffer.alloc(32, 7)]))
    const stores = await openStores(database)
    const { history, historyRemoval, instances } = stores
    const create = (name: string) => instances.insert(holdOf('shop'), sampleInstance(name), sampleAudit())
    await create('shop')
    const keep = (rows: ReturnType<typeof row>[], anchors = none) => history.keep(holdOf('shop'), rows, anchors)
    const pending = async (jids = [bob], page: { since?: number; after?: HistoryPlace; limit?: number } = {}) => {
      const rows = await history.pending('shop', jids, { since: 0, after: null, limit: 100, ...page })
      return rows.map(({ event }) => event.id)
    }
    const counts = async (instance = 'shop', since?: number) =>
      (await history.chats(instance, since)).map(({ jid, pending, anchor }) => [jid, pending, anchor?.key.id])
    const job = (id: string, status: 'running' | 'cancelled') =>
      database.write(
        database.query
          .insertInto('jobs')
          .values({ id, type: 'history_all', instance: 'shop', status, params: '{}', created_at: 1 }),
      )
    const owned = stack.move()
    return {
      ...{ database, stores, history, historyRemoval, create, keep, pending, counts, job },
      [Symbol.asyncDispose]: () => owned.disposeAsync(),
    }
  }

  describe(`the kept history on ${engine}`, () => {
    test('messages are read oldest first, in pages, over both addresses of a person', async () => {
      await using stage = await setUp()
      const { history, keep, pending } = stage
      await keep([
        row('newest', { at: 9000 }),
        row('second', { at: 5000, position: 2 }),
        row('first', { at: 5000, position: 1, chatJid: bobsLid }),
        row('third', { at: 5000, position: 2, chatJid: bobsLid }),
        row('oldest', { at: 1000, position: -4 }),
        row('of Ann', { at: 1, chatJid: ann }),
      ])
      assert.deepEqual(await pending([bob, bobsLid]), ['oldest', 'first', 'second', 'third', 'newest'])
      const page = { since: 1000, limit: 2 }
      const read: string[][] = []
      let after: HistoryPlace | null = null
      do {
        const rows = await history.pending('shop', [bob, bobsLid], { ...page, after })
        read.push(rows.map(({ event }) => event.id))
        after = rows.at(-1) ?? null
      } while (after)
      assert.deepEqual(read, [['oldest', 'first'], ['second', 'third'], ['newest'], []])
      assert.deepEqual(await pending([bob, bobsLid], { since: 5000 }), ['first', 'second', 'third', 'newest'])
      assert.deepEqual(await pending([]), [])
    })

    test('a piece that comes again changes nothing, and a message with an outcome is not imported again', async () => {
      await using stage = await setUp()
      const { history, keep, pending, counts } = stage
      const rows = [row('a', { at: 1 }), row('b', { at: 2 }), row('c', { at: 3 })]
      await keep(rows)
      await history.setOutcome(holdOf('shop'), 'row-a', 'posted', 'job')
      await history.setOutcome(holdOf('shop'), 'row-b', 'error', 'job')
      // The rows of the second time have other ids.
      await keep(rows.map((each) => ({ ...each, id: `${each.id}-again` })))
      assert.deepEqual(await pending(), ['c'])
      assert.deepEqual(await counts(), [[bob, 1, undefined]])
    })

    test('two messages of a group that differ only in their author are two messages', async () => {
      await using stage = await setUp()
      await stage.keep([row('a', { participant: 'x' }), { ...row('a', { participant: 'y' }), id: 'other' }])
      assert.deepEqual(await stage.pending(), ['a', 'a'])
    })

    test('a large piece is one commit', async () => {
      await using stage = await setUp()
      const rows = Array.from({ length: 523 }, (_, n) => row(`m${n}`, { at: n }))
      await stage.keep(rows)
      assert.deepEqual(await stage.counts(), [[bob, 523, undefined]])
      assert.deepEqual(await stage.counts('shop', 500), [[bob, 23, undefined]])
      assert.equal((await stage.pending([bob], { limit: 1000 })).at(-1), 'm522')
    })

    test('the anchor of a chat moves to older messages only', async () => {
      await using stage = await setUp()
      const { history, keep, counts } = stage
      const anchorOf = async (...jids: string[]) => (await history.anchorOf('shop', jids))?.key.id
      await keep([row('a')])
      assert.equal(await anchorOf(bob), undefined)
      await keep([], new Map([[bob, anchor('middle', 500)]]))
      await keep([], new Map([[bob, anchor('newer', 600)]]))
      assert.equal(await anchorOf(bob), 'middle')
      await keep([], new Map([[bob, anchor('older', 400)]]))
      await keep([row('b')])
      assert.deepEqual(await history.anchorOf('shop', [bob]), anchor('older', 400))
      await keep([], new Map([[bobsLid, anchor('oldest', 300)]]))
      assert.deepEqual(
        [await anchorOf(bob, bobsLid), await anchorOf(ann), await anchorOf()],
        ['oldest', undefined, undefined],
      )
      assert.deepEqual(await counts(), [
        [bob, 2, 'older'],
        [bobsLid, 0, 'oldest'],
      ])
    })

    test('the outcomes of a chat are counted for its job, and removed when the chat is done', async () => {
      await using stage = await setUp()
      const { database, history, keep, pending } = stage
      await keep(['a', 'b', 'c', 'd', 'e'].map((id, n) => row(id, { at: 1000 * (n + 1) })))
      await keep([row('f', { at: 9000, chatJid: ann })])
      await database.write(history.outcomeStatement('row-b', 'posted', 'job'))
      await history.setOutcome(holdOf('shop'), 'row-c', 'posted', 'job')
      await history.setOutcome(holdOf('shop'), 'row-d', 'error', 'job')
      await history.setOutcome(holdOf('shop'), 'row-f', 'skipped', 'job')
      const outcomes = () => history.outcomes('shop', [bob, bobsLid], 'job')
      const nothing = { posted: 0, skipped: 0, filtered: 0, error: 0, oldestAt: null, newestAt: null }
      assert.deepEqual(await outcomes(), { ...nothing, posted: 2, error: 1, oldestAt: 2000, newestAt: 4000 })
      assert.deepEqual(await history.outcomes('shop', [bob], 'another'), nothing)
      assert.deepEqual(await history.outcomes('shop', [], 'job'), nothing)
      await database.write(...history.removeStatements('shop', [bob, bobsLid], 'job'))
      assert.deepEqual(await outcomes(), nothing)
      assert.equal((await history.outcomes('shop', [ann], 'job')).skipped, 1)
      // What failed may be imported by the next job.
      assert.deepEqual(await pending(), ['a', 'd', 'e'])
      assert.deepEqual(history.removeStatements('shop', [], 'job'), [])
    })

    test('events are encrypted, and dropped when they are imported', async () => {
      await using stage = await setUp()
      const { database, history, keep } = stage
      await keep([row('a'), row('b')])
      await history.setOutcome(holdOf('shop'), 'row-a', 'posted', 'job')
      const rows = await database.read(
        database.query.selectFrom('history_messages').select(['id', 'event']).orderBy('id'),
      )
      assert.equal(rows[0]?.event, null)
      const stored = Buffer.from(rows[1]?.event ?? [])
      assert.ok(stored.length > 0 && !stored.includes('text of b'))
    })

    test('a process that lost the lease keeps nothing', async () => {
      await using stage = await setUp()
      await assert.rejects(stage.history.keep(holdOf('shop', 2), [row('a')], none), { failure: 'expectation' })
      await assert.rejects(stage.history.setOutcome(holdOf('shop', 2), 'row-a', 'posted', 'job'), {
        failure: 'expectation',
      })
      assert.deepEqual(await stage.counts(), [])
    })

    test('nothing is kept for an instance that was deleted', async () => {
      await using stage = await setUp()
      await stage.stores.instances.remove(holdOf('shop'), null, sampleAudit())
      await assert.rejects(stage.keep([row('a')], new Map([[bob, anchor('a', 1)]])), { failure: 'expectation' })
      assert.deepEqual(await stage.counts(), [])
    })

    test('the history of a deleted instance is removed in batches', async () => {
      await using stage = await setUp()
      const { history, historyRemoval, stores, create, keep, counts } = stage
      await create('other')
      await history.keep(
        holdOf('other'),
        [row('x')].map((each) => ({ ...each, id: 'x' })),
        none,
      )
      await keep([row('a'), row('b'), row('c')], new Map([[ann, anchor('a', 1)]]))
      assert.equal(await historyRemoval.dropInstance(nodeHold(), 'shop', 2), 0, 'the instance exists')
      await stores.instances.remove(holdOf('shop'), null, sampleAudit())
      assert.deepEqual(await historyRemoval.orphans(), ['shop'])
      assert.equal(await historyRemoval.dropInstance(nodeHold(), 'shop', 2), 2)
      assert.deepEqual(await historyRemoval.orphans(), ['shop'])
      assert.equal(await historyRemoval.dropInstance(nodeHold(), 'shop', 2), 1)
      assert.deepEqual([await historyRemoval.orphans(), await counts()], [[], []])
      assert.deepEqual(await counts('other'), [[bob, 1, undefined]])
    })

    test('an instance of the same name does not find the history of the one before', async () => {
      await using stage = await setUp()
      await stage.keep([row('a')], new Map([[bob, anchor('a', 1)]]))
      await stage.stores.instances.remove(holdOf('shop'), null, sampleAudit())
      await stage.create('shop')
      assert.deepEqual([await stage.counts(), await stage.pending()], [[], []])
    })

    test('when another number is linked, the history of the number before is removed', async () => {
      await using stage = await setUp()
      const { keep, pending, counts } = stage
      const link = (linkedJid: string) => stage.stores.instances.update(holdOf('shop'), { linkedJid }, {})
      await keep([row('a')])
      await link('5511999990001@s.whatsapp.net')
      await link('5511999990001@s.whatsapp.net')
      assert.deepEqual(await pending(), ['a'])
      await link('5511999990002@s.whatsapp.net')
      assert.deepEqual([await pending(), await counts()], [[], []])
    })

    test('old messages are removed, unless a job of the instance has not ended', async () => {
      await using stage = await setUp()
      const { historyRemoval, keep, pending, job, database } = stage
      await keep([row('old', { at: 1000 }), row('older', { at: 999 }), row('young', { at: 2000 })])
      await job('j', 'running')
      assert.equal(await historyRemoval.prune(nodeHold(), 2000, 10), 0)
      await database.write(database.query.updateTable('jobs').set({ status: 'completed' }))
      assert.equal(await historyRemoval.prune(nodeHold(), 2000, 1), 1)
      assert.equal(await historyRemoval.prune(nodeHold(), 2000, 10), 1)
      assert.deepEqual(await pending(), ['young'])
    })

    test('what an ended job has left behind is removed', async () => {
      await using stage = await setUp()
      const { history, historyRemoval, keep, job } = stage
      await keep([row('a'), row('b'), row('c')])
      await job('live', 'running')
      await job('over', 'cancelled')
      await history.setOutcome(holdOf('shop'), 'row-a', 'posted', 'live')
      await history.setOutcome(holdOf('shop'), 'row-b', 'posted', 'over')
      assert.equal(await historyRemoval.prune(nodeHold(), 0, 10), 1)
      assert.equal((await history.outcomes('shop', [bob], 'live')).posted, 1)
      assert.equal((await history.outcomes('shop', [bob], 'over')).posted, 0)
    })

    test('a message that failed in an ended job can be imported by another job', async () => {
      await using stage = await setUp()
      const { history, historyRemoval, keep, pending, job } = stage
      await keep([row('a')])
      await job('over', 'cancelled')
      await history.setOutcome(holdOf('shop'), 'row-a', 'error', 'over')
      assert.equal(await historyRemoval.prune(nodeHold(), 0, 10), 1)
      assert.equal(await historyRemoval.prune(nodeHold(), 0, 10), 0)
      assert.deepEqual(await pending(), ['a'])
    })

    test('what an ended job has posted stays until the conversation is tidied up', async () => {
      await using stage = await setUp()
      const { stores, history, historyRemoval, keep, job } = stage
      await keep([row('a')])
      await job('over', 'cancelled')
      const chat = { jobId: 'over', chat: 'bob' }
      await stores.imports.plan({ id: 'over', instance: 'shop' }, [{ chat: 'bob', jids: [bob] }])
      await stores.imports.begin('shop', chat, 0)
      await stores.imports.setPlace('shop', chat, { destination: 'inbox', conversationId: 7, target: 'chat' })
      await history.setOutcome(holdOf('shop'), 'row-a', 'posted', 'over')
      assert.equal(await historyRemoval.prune(nodeHold(), 0, 10), 0)
      assert.equal((await history.outcomes('shop', [bob], 'over')).posted, 1)
      const counts = { seen: 0, kept: 1, posted: 1, skipped: 0, errors: 0, oldestAt: 1000, newestAt: 1000 }
      await stores.imports.end('shop', chat, { outcome: 'imported', counts }, [])
      assert.equal(await historyRemoval.prune(nodeHold(), 0, 10), 1)
    })
  })
}
