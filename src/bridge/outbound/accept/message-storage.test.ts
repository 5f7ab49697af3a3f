import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { NotHeldError } from '../../../core/nodes/hold.ts'
import { StorageError } from '../../../storage/engine/statement.ts'
import { MessageStorage } from './message-storage.ts'
import type { Message } from './message-storage.ts'

type Deps = ConstructorParameters<typeof MessageStorage>[0]
type Try = 'accepted' | 'duplicate' | 'full' | 'lost' | 'undone' | 'not held'

const key = { destination: 'inbox', kind: 'message_created', eventId: 1 }

/** The commits end like this, one after the other. `settledBy` is the row that settled the callback. */
function setUp(tries: Try[], { settledBy = 'own', hasKey = true, isPrepared = false } = {}) {
  const deadline = { isOver: false, leftMs: () => 1 }
  const refused: string[] = []
  const submitted: string[] = []
  const onEnqueue = { second: () => {} }
  /** What becomes of the frame of a prepared message. */
  const frame: string[] = []
  let made = 0
  const enqueue = () => {
    made += 1
    if (made === 2) onEnqueue.second()
    const end = tries[made - 1]
    if (end === 'lost') return Promise.reject(new StorageError('unavailable', 'no answer'))
    if (end === 'undone') return Promise.reject(new StorageError('undone', 'undone'))
    return end === 'not held' ? Promise.reject(new NotHeldError('a')) : Promise.resolve(end)
  }
  const startPrepared = (_row: unknown, { stored }: { stored: Promise<boolean> }) => {
    void stored.then((isStored) => frame.push(isStored ? 'leaves' : 'stays'))
    return { giveBack: () => frame.push('pace given back') }
  }
  const deps = {
    outbox: {
      enqueue,
      enqueueIf: async () => ({ stored: await enqueue(), hasUnread: false }),
      settledBy: () => Promise.resolve({ id: settledBy, status: 'sent' }),
    },
    undecided: {
      while: (_id: string, deciding: () => Promise<unknown>) => deciding(),
      refuse: ({ id }: { id: string }) => Promise.resolve(refused.push(id)),
      reopen: () => Promise.resolve(false),
    },
    worker: { submit: ({ id }: { id: string }) => submitted.push(id), startPrepared },
    traces: { note: () => undefined },
    onStep: () => Promise.resolve(),
  } as unknown as Deps
  const row = { id: 'own', instance: 'a', kind: 'message', payload: {}, createdAt: 1 }
  const prepared = isPrepared ? { parts: [], address: 'a' } : undefined
  const message = { row, key: hasKey ? key : null, destination: null, prepared } as unknown as Message
  const storage = new MessageStorage(deps)
  const store = () => storage.store(message, deadline)
  const storeIf = () => storage.storeIf({ conditions: [] }, message, deadline)
  return { store, storeIf, deadline, onEnqueue, refused, submitted, frame, made: () => made }
}

const lost = { failure: 'unavailable' }

describe('a commit whose answer is lost', () => {
  test('was made: the second try finds its own row, and the message is sent once', async () => {
    const { store, refused, submitted } = setUp(['lost', 'duplicate'])
    assert.equal(await store(), 'accepted')
    assert.deepEqual([refused, submitted], [[], ['own']])
  })

  test('was not made: the second try stores the message', async () => {
    const { store, refused, submitted } = setUp(['lost', 'accepted'])
    assert.equal(await store(), 'accepted')
    assert.deepEqual([refused, submitted], [[], ['own']])
  })

  test('may have been made with unread messages in the conversation: they are looked for', async () => {
    assert.deepEqual(await setUp(['lost', 'duplicate']).storeIf(), { stored: 'accepted', hasUnread: true })
    assert.deepEqual(await setUp(['accepted']).storeIf(), { stored: 'accepted', hasUnread: false })
  })

  test('and the instance has left meanwhile: its next holder decides, and nothing is taken back', async () => {
    const { store, refused } = setUp(['lost', 'not held'])
    await assert.rejects(store(), NotHeldError)
    assert.deepEqual(refused, [])
  })

  test('holds the frame of a prepared message back until the second try has told', async () => {
    const told = setUp(['lost', 'accepted'], { isPrepared: true })
    await told.store()
    const untold = setUp(['lost', 'lost'], { isPrepared: true })
    await assert.rejects(untold.store(), lost)
    assert.deepEqual([told.frame, untold.frame], [['leaves'], ['pace given back', 'stays']])
  })

  test('and another row has settled the callback: the answer is the one to a repeat', async () => {
    const { store, refused, submitted } = setUp(['lost', 'duplicate'], { settledBy: 'other' })
    assert.deepEqual(await store(), { kind: 'ignored', reason: 'duplicate', queueId: 'other' })
    assert.deepEqual([refused, submitted], [[], []])
  })

  test('and the second try ends late: the message is taken back', async () => {
    const { store, deadline, onEnqueue, refused, submitted } = setUp(['lost', 'duplicate'])
    onEnqueue.second = () => (deadline.isOver = true)
    assert.deepEqual(await store(), { kind: 'late' })
    assert.deepEqual([refused, submitted], [['own'], []])
  })

  for (const second of ['lost', 'undone', 'full'] as const) {
    test(`and the second try, which ends as ${second}, does not tell: the message is taken back`, async () => {
      const { store, refused, submitted } = setUp(['lost', second])
      await assert.rejects(store(), lost)
      assert.deepEqual([refused, submitted], [['own'], []])
    })
  }

  test('when no time is left, or without a key, has no second try: the message is taken back', async () => {
    const late = setUp(['lost'])
    late.deadline.isOver = true
    for (const { store, refused, made } of [late, setUp(['lost'], { hasKey: false })]) {
      await assert.rejects(store(), lost)
      assert.deepEqual([refused, made()], [['own'], 1])
    }
  })
})

test('a commit that was undone has no second try, and nothing is to be taken back', async () => {
  const { store, refused, made } = setUp(['undone'])
  await assert.rejects(store(), { failure: 'undone' })
  assert.deepEqual([refused, made()], [[], 1])
})
