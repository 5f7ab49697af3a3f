// Every method of the stores does what the table in core/outbox.ts says, from every state a row can be in.

import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { outboxStatuses, outboxTransitions, transitionOf } from '../../src/core/outbox.ts'
import type { OutboxPart, OutboxTransition } from '../../src/core/outbox.ts'
import { shownStates } from '../../src/core/shown.ts'
import { LeaseStore } from '../../src/storage/stores/lease-store.ts'
import { RestoredStore } from '../../src/storage/stores/restored-store.ts'
import { sealed, toColumns } from '../../src/storage/stores/messages/outbox-rows.ts'
import type { NewOutboxRow, OutboxRow } from '../../src/storage/stores/messages/outbox-rows.ts'
import { OutboxStore } from '../../src/storage/stores/messages/outbox-store.ts'
import { OutboxTransitions } from '../../src/storage/stores/messages/outbox-transitions.ts'
import { RetryStore } from '../../src/storage/stores/messages/retry-store.ts'
import { ShownStore } from '../../src/storage/stores/messages/shown-store.ts'
import { engines, newDatabase } from '../harness/databases.ts'
import { holdOf, nodeHold } from '../harness/holds.ts'

/** What each method of a store does to rows. */
const methods: Record<string, readonly OutboxTransition[]> = {
  'OutboxStore.enqueue': ['accept', 'acceptClaimed', 'lookAgain'],
  'OutboxStore.enqueueIf': ['accept', 'acceptClaimed', 'lookAgain'],
  'OutboxStore.keepRefused': ['keepRefused'],
  'OutboxStore.prune': ['prune'],
  'OutboxStore.settleAhead': [],
  'OutboxStore.find': [],
  'OutboxStore.open': [],
  'OutboxStore.settledBy': [],
  'OutboxStore.ofMessage': [],
  'OutboxStore.newestOf': [],
  'OutboxStore.live': [],
  'OutboxStore.moveRows': [],
  'OutboxStore.countWaiting': [],
  'OutboxStore.countPending': [],
  'OutboxStore.liveOfDeleted': [],
  'OutboxStore.totals': [],
  'OutboxTransitions.recover': ['recover'],
  'OutboxTransitions.claim': ['claim'],
  'OutboxTransitions.unclaim': ['unclaim'],
  'OutboxTransitions.saveParts': ['saveParts'],
  'OutboxTransitions.markSent': ['markSent'],
  'OutboxTransitions.postpone': ['postpone'],
  'OutboxTransitions.fail': ['fail'],
  'OutboxTransitions.cancel': ['cancel'],
  'OutboxTransitions.expire': ['expire'],
  'OutboxTransitions.startWaiting': ['startWaiting'],
  'OutboxTransitions.stopWaiting': ['stopWaiting'],
  'OutboxTransitions.withdraw': ['withdraw'],
  'OutboxTransitions.due': [],
  'OutboxTransitions.timeNeeds': [],
  'RestoredStore.prepare': ['restore'],
  'RetryStore.keepChange': ['keepChange'],
  'RetryStore.retry': ['retry'],
  'RetryStore.discard': ['discard'],
  'RetryStore.isUnderImport': [],
  'ShownStore.confirm': ['confirm'],
  'ShownStore.noteAnswers': ['noteAnswer'],
  'ShownStore.noteFailure': ['noteFailure'],
  'ShownStore.planUnsure': ['planUnsure'],
  'ShownStore.due': [],
  'ShownStore.planLook': ['planLook'],
  'ShownStore.ask': ['ask'],
  'ShownStore.saveLook': ['saveLook'],
  'ShownStore.endLooks': ['saveLook'],
  'ShownStore.reportedOf': [],
}

type Stores = {
  outbox: OutboxStore
  transitions: OutboxTransitions
  retries: RetryStore
  shown: ShownStore
  /** The database comes from a backup, and is taken over. */
  restore: (at: number) => Promise<unknown>
}
type Move = (stores: Stores, row: OutboxRow) => Promise<unknown>

const part: OutboxPart[] = [{ id: 'W1', of: 'text', state: 'unknown' }]
const place = { instance: 'shop', destination: 'https://desk|1|1' }
const now = 50_000
const callback = (eventId: number) => ({ ...place, kind: 'message_created', eventId })
const postponed = { parts: part, reason: '', nextAttemptAt: 0, counted: 1 } as const
const atOnce = { isWaiting: false, isDrained: false, expiresAt: null }

function newRow(id: string, messageId: number): NewOutboxRow {
  return {
    ...place,
    id,
    kind: 'message',
    ownerTag: 'acme',
    inboxId: 0,
    chatId: 'p1',
    remoteJid: '5511999990001@s.whatsapp.net',
    conversationId: 7,
    messageId,
    isWaiting: false,
    isDrained: false,
    expiresAt: null,
    fingerprint: null,
    createdAt: 1000,
    payload: { type: 'message', content: 'hello', attachments: [], inReplyTo: null, agentName: null },
  }
}

/** Creates a row of this id. */
const creations = {
  accept: ({ outbox }, row) => outbox.enqueue(row, null),
  acceptClaimed: ({ outbox }, row) => outbox.enqueue(row, null, { parts: part, address: 'jid' }),
  keepRefused: ({ outbox }, row) => outbox.keepRefused(row, { reason: 'spam', lookAt: 2000 }, null),
  keepChange: ({ retries }, row) =>
    retries.keepChange({ row, callback: null, reason: null }, { at: 2000, until: 3000 }),
} satisfies Partial<Record<OutboxTransition, (stores: Stores, row: NewOutboxRow) => Promise<unknown>>>

const moves: Record<Exclude<OutboxTransition, keyof typeof creations>, Move> = {
  recover: ({ transitions }) => transitions.recover('shop'),
  claim: ({ transitions }, { id }) => transitions.claim('shop', id, now, part, 'jid'),
  unclaim: ({ transitions }, { id }) => transitions.unclaim('shop', id),
  saveParts: ({ transitions }, { id }) => transitions.saveParts('shop', id, part),
  markSent: ({ transitions }, row) => transitions.markSent(row, [], now, []),
  postpone: ({ transitions }, { id }) => transitions.postpone('shop', id, postponed),
  startWaiting: ({ transitions }) => transitions.startWaiting('shop', now),
  stopWaiting: ({ transitions }) => transitions.stopWaiting('shop', now),
  fail: ({ transitions }, row) => transitions.fail(row, 'no', now, now),
  cancel: ({ transitions }, row) => transitions.cancel(row, 'deleted', now),
  expire: ({ transitions }, row) => transitions.expire(row, 'time over', now + 2),
  withdraw: ({ transitions }, { id }) => transitions.withdraw('shop', id, 'too late', now),
  confirm: ({ shown }, { id }) => shown.confirm('shop', id, now),
  noteAnswer: ({ shown }, { id }) => shown.noteAnswers([id]),
  noteFailure: ({ shown }, { id }) => shown.noteFailure('shop', id, now),
  planLook: ({ shown }, { id }) => shown.planLook('shop', id, now),
  planUnsure: ({ shown }) => shown.planUnsure({ after: 0, before: now }, now, 'all'),
  lookAgain: ({ outbox }, { id, messageId }) =>
    outbox.enqueue(newRow(`${id} again`, messageId ?? 0), callback(messageId ?? 0)),
  ask: ({ shown }, { id }) => shown.ask('shop', id, { at: now, until: now + 2 }),
  saveLook: ({ shown }, row) => shown.saveLook(row, row.shown === 'told' ? 'failed' : 'told', null),
  retry: ({ retries }, row) => retries.retry(row, [], atOnce, now),
  discard: ({ retries }, { id }) => retries.discard('shop', id),
  restore: ({ restore }) => restore(now),
  prune: ({ outbox }) => outbox.prune(now, 0),
}

test('every method of the stores is classified, and every transition has a method', () => {
  const stores = { OutboxStore, OutboxTransitions, RestoredStore, RetryStore, ShownStore }
  const all = Object.entries(stores).flatMap(([name, { prototype }]) =>
    Object.getOwnPropertyNames(prototype)
      .filter((method) => method !== 'constructor')
      .map((method) => `${name}.${method}`),
  )
  assert.deepEqual(Object.keys(methods).sort(), all.sort())
  assert.deepEqual([...new Set(Object.values(methods).flat())].sort(), Object.keys(outboxTransitions).sort())
})

test('no other file writes the state of a row', () => {
  const writers = globSync('src/**/*.ts').filter((file) =>
    /(?:updateTable|insertInto|deleteFrom)\('outbox'\)/.test(readFileSync(file, 'utf8')),
  )
  const expected = ['outbox-store', 'outbox-transitions', 'retry-store', 'shown-store', 'waiting-sql'].map(
    (name) => `messages/${name}.ts`,
  )
  // The first corrects times, the second plans a look, the third moves the rows of a person to another chat, the fourth
  // makes a transition.
  const others = ['future-times.ts', 'messages/tick-store.ts', 'people/people-store.ts', 'restored-store.ts']
  const names = [...expected, ...others].map((name) => `src/storage/stores/${name}`)
  assert.deepEqual(writers.sort(), names.sort())
  const times = readFileSync('src/storage/stores/future-times.ts', 'utf8')
  const changes = times.matchAll(/updateTable\('outbox'\)\s*\.set\((.*?)\)/g).map(([, change]) => change)
  assert.deepEqual([...changes], ['expiry', 'expiry', '{ look_at: now }'])
  const ticks = readFileSync('src/storage/stores/messages/tick-store.ts', 'utf8')
  assert.match(ticks, /updateTable\('outbox'\)\s*\.set\(\{ look_at: lookAt \}\)/)
  const people = readFileSync('src/storage/stores/people/people-store.ts', 'utf8')
  assert.match(people, /updateTable\('outbox'\)\.set\(\{ chat: id \}\)/)
})

for (const engine of engines) {
  const setUp = async () => {
    await using stack = new AsyncDisposableStack()
    const { database } = stack.use(await newDatabase(engine, [Buffer.alloc(32, 1)]))
    const epoch = (await new LeaseStore(database).acquire('test', 600_000)) ?? 0
    const [outbox, transitions] = [
      new OutboxStore(
        database,
        (instance) => holdOf(instance, epoch),
        () => nodeHold(epoch),
      ),
      new OutboxTransitions(database, (instance) => holdOf(instance, epoch)),
    ]
    const [retries, shown] = [
      new RetryStore(database, (instance) => holdOf(instance, epoch)),
      new ShownStore(database, (instance) => holdOf(instance, epoch)),
    ]
    /** One row for each state, and no other. */
    const rowsInAllStates = async (reason: string | null): Promise<OutboxRow[]> => {
      const states = outboxStatuses.flatMap((status) => shownStates.map((each) => ({ status, shown: each })))
      const rows = states.map(({ status, shown: each }, index) => {
        const row = newRow(`r${index}`, index + 1)
        const settled_at = status === 'pending' || status === 'sending' ? null : 2000
        const state = { status, shown: each, settled_at, reason, expires_at: now + 1 }
        return { ...toColumns(row), ...sealed(row.id, row.payload), ...state }
      })
      const { query } = database
      const inserts = rows.map((row) => query.insertInto('outbox').values(row))
      await database.write(query.deleteFrom('outbox'), query.deleteFrom('settled_callbacks'), ...inserts)
      return Promise.all(rows.map(async ({ id }) => (await outbox.find(id)) ?? assert.fail()))
    }
    const owned = stack.move()
    const restore = async (at: number) => {
      await database.write(database.query.updateTable('lease').set({ backup_at: at }))
      return new RestoredStore(database).prepare(at)
    }
    const stores = { outbox, transitions, retries, shown, restore }
    return { ...stores, rowsInAllStates, [Symbol.asyncDispose]: () => owned.disposeAsync() }
  }

  describe(`transitions of the outbox on ${engine}`, () => {
    test('a row is created in the state that the table says', async () => {
      await using stage = await setUp()
      for (const [name, create] of Object.entries(creations)) {
        await create(stage, newRow(name, 1))
        const { to, shown, from } = transitionOf(name as keyof typeof creations)
        const row = await stage.outbox.find(name)
        assert.deepEqual([from, row?.status], [[], to])
        assert.ok(row && shown?.to.includes(row.shown), row?.shown)
      }
    })

    test('a method changes the rows it may change as the table says, and leaves every other row alone', async () => {
      await using stage = await setUp()
      for (const name of Object.keys(moves) as (keyof typeof moves)[]) {
        const rows = await stage.rowsInAllStates(name === 'discard' ? null : 'why')
        for (const row of rows) await moves[name](stage, row)
        for (const row of rows) check(name, row, await stage.outbox.find(row.id))
      }
    })
  })
}

function check(name: keyof typeof moves, before: OutboxRow, after: OutboxRow | undefined): void {
  const { from, to, shown } = transitionOf(name)
  const what = `${name} of ${before.status}/${before.shown}`
  if (!from.includes(before.status) || shown?.from?.includes(before.shown) === false) {
    assert.deepEqual(after, before, what)
    return
  }
  assert.notDeepEqual(after, before, what)
  assert.equal(after?.status ?? 'deleted', to === 'same' ? before.status : to, what)
  if (after) assert.ok((shown?.to ?? [before.shown]).includes(after.shown), `${what} ends in ${after.shown}`)
}
