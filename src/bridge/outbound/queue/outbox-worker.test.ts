// The worker with a scripted account: what it does with refusals, silence and lost connections, on a clock of the test's own.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newDatabase } from '../../../../test/harness/databases.ts'
import { silentLog } from '../../../../test/harness/logs.ts'
import { ManualClock } from '../../../../test/harness/manual-clock.ts'
import { waitUntil } from '../../../../test/harness/wait-until.ts'
import type { NetworkSession } from '../../../core/network.ts'
import { SendError } from '../../../core/network.ts'
import { Pace } from '../../../guard/pace.ts'
import { LeaseStore } from '../../../storage/stores/lease-store.ts'
import { OutboxTransitions } from '../../../storage/stores/messages/outbox-transitions.ts'
import { OutboxStore } from '../../../storage/stores/messages/outbox-store.ts'
import { SentMessageStore } from '../../../storage/stores/messages/sent-message-store.ts'
import type { MessagePayload, OutboxPart } from '../../../core/outbox.ts'
import { openedRow } from '../../../storage/stores/messages/outbox-rows.ts'
import type { NewOutboxRow } from '../../../storage/stores/messages/outbox-rows.ts'
import { RowSender } from '../send/row-sender.ts'
import { claimOf } from '../send/immediate-send.ts'
import { SendPreparation } from '../send/send-preparation.ts'
import { OutboxWorker } from './outbox-worker.ts'
import { RowAttempts } from './row-attempts.ts'
import { RowOutcomes } from './row-outcomes.ts'

type Send = (chat: string, id: string) => Promise<void>

async function setUp({ perMinute = 0 } = {}) {
  await using stack = new AsyncDisposableStack()
  const { database } = stack.use(await newDatabase('sqlite'))
  const epoch = (await new LeaseStore(database).acquire('test', 600_000)) ?? 0
  const clock = new ManualClock()
  const [outbox, transitions] = [new OutboxStore(database, () => epoch), new OutboxTransitions(database, () => epoch)]
  const account = {
    isReady: true,
    exists: true,
    send: (() => Promise.resolve()) as Send,
    seal: () => Promise.resolve(),
    sent: [] as string[],
    fetch: () => Promise.resolve(),
    /** Rows of which it is not decided whether they are accepted. */
    open: new Set<string>(),
    ids: 0,
  }
  const session = {
    newMessageId: () => `W${++account.ids}`,
    send: async (chat: string, content: { text: string }, id: string, released?: Promise<void>) => {
      await account.seal()
      await released
      account.sent.push(`${content.text} ${id}`)
      await account.send(chat, id)
    },
  } as unknown as NetworkSession
  const told: string[] = []
  const metrics = {
    acknowledged: () => undefined,
    lost: () => told.push('lost'),
    expired: () => told.push('expired'),
    strike: () => told.push('strike'),
  }
  const piece = (text: string) => ({
    content: { type: 'text', text },
    text,
    leftOver: false,
    [Symbol.asyncDispose]: () => Promise.resolve(),
  })
  let ids = 0
  const pace = new Pace({ perMinute, drainPerSecond: 0, clock, random: Math.random })
  const composer = {
    draft: ({ content, attachments }: MessagePayload) =>
      Promise.resolve({
        plan: attachments.length > 0 ? [...attachments.keys()] : ['text'],
        contentOf: async (of: OutboxPart['of']) => {
          if (of !== 'text') await account.fetch()
          return piece(content)
        },
      }),
  }
  const recipients = {
    addressOf: (_: string, { jid, chatId }: { jid: string; chatId: string }) => Promise.resolve({ jid, chatId }),
  }
  const restrictions = { until: () => undefined, record: () => Promise.resolve(true) }
  const sender = new RowSender({
    preparation: new SendPreparation({
      composer: composer as never,
      recipients: recipients as never,
      restrictions,
      revokes: { of: () => Promise.resolve([]) },
      destinationOf: () => Promise.resolve(null),
    }),
    transitions,
    sent: new SentMessageStore(database, () => epoch),
    restrictions,
    metrics,
    pace,
    newId: () => `m${++ids}`,
    clock,
    onStep: () => Promise.resolve(),
  })
  const accounts = {
    sessionOf: () => (account.isReady ? session : undefined),
    exists: () => account.exists,
  }
  const reporter = { due: (now: number) => now }
  const outcomes = new RowOutcomes({ outbox, transitions, reporter, metrics, clock })
  const attempts = new RowAttempts({ outbox, transitions, sender, pace, outcomes, accounts, clock, log: silentLog })
  const worker = stack.use(
    new OutboxWorker({
      outbox,
      transitions,
      attempts,
      outcomes,
      pace,
      accounts,
      isUndecided: (id) => account.open.has(id),
      clock,
      log: silentLog,
    }),
  )
  const rowOf = (id: string, chat: string, files = 0): NewOutboxRow => {
    const attachments = Array.from({ length: files }, () => ({ url: '', fileName: null, mimeType: null, size: null }))
    const place = {
      instance: 'a',
      ownerTag: '',
      inboxId: 0,
      destination: 'd',
      chatId: chat,
      remoteJid: `${chat}@s.whatsapp.net`,
    }
    const payload = { type: 'message' as const, content: id, attachments, inReplyTo: null, agentName: null }
    const rest = {
      conversationId: 1,
      messageId: 1,
      isWaiting: false,
      isDrained: false,
      expiresAt: null,
      fingerprint: null,
    }
    return { id, kind: 'message', ...place, ...rest, createdAt: clock.now(), payload }
  }
  const store = async (id: string, chat = 'p1', files = 0) => {
    await outbox.enqueue(rowOf(id, chat, files), null)
  }
  const add = async (id: string, chat = 'p1', files = 0) => {
    await store(id, chat, files)
    worker.submit({ id, instance: 'a', chatId: chat })
  }
  /** As a callback does it; `between` is what happens before it is stored. */
  const depart = async (
    id: string,
    between: () => Promise<unknown> = () => Promise.resolve(),
    { chat = 'p1', isAccepted = true } = {},
  ) => {
    const row = rowOf(id, chat)
    const draft = { plan: ['text'] as const, contentOf: () => Promise.resolve(piece(id) as never) }
    const parts = [{ id: session.newMessageId(), of: 'text', state: 'new' }] as OutboxPart[]
    const prepared = { address: row.remoteJid, chatId: chat, draft, parts }
    const stored = Promise.withResolvers<boolean>()
    const outcomes: string[] = []
    const leaves = worker.startPrepared(openedRow(row), { prepared, stored: stored.promise }, ({ kind }) =>
      outcomes.push(kind),
    )
    await between()
    if (!isAccepted) stored.resolve(false)
    else if (leaves) {
      await outbox.enqueue(row, null, claimOf(prepared))
      stored.resolve(true)
    }
    return { leaves, outcomes }
  }
  const reaches = (id: string, status: string) =>
    waitUntil(`${id} is ${status}`, async () => (await outbox.find(id))?.status === status, { timeoutMs: 5000 })
  const settles = () => new Promise((resolve) => setTimeout(resolve, 30))
  const owned = stack.move()
  return {
    clock,
    outbox,
    transitions,
    account,
    told,
    worker,
    store,
    add,
    depart,
    reaches,
    settles,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

const silent = () => Promise.reject(new SendError('unknown', 'no acknowledgement'))

test('five attempts after 5, 10, 20 and 40 s under one id, then "could not be confirmed"', async () => {
  await using stage = await setUp()
  const { clock, account, outbox, add, reaches } = stage
  account.send = silent
  await add('x')
  const times: number[] = []
  for (let attempt = 1; attempt <= 5; attempt++) {
    await waitUntil(`attempt ${attempt}`, async () => {
      if (account.sent.length < attempt) await clock.advance(1000)
      const row = await outbox.find('x')
      return account.sent.length === attempt && row?.attempts === attempt && row.status !== 'sending'
    })
    times.push(Math.round(clock.monotonic() / 1000))
  }
  await reaches('x', 'failed')
  assert.deepEqual(account.sent, Array<string>(5).fill('x W1'))
  const gaps = times.slice(1).map((at, index) => at - (times[index] ?? 0))
  for (const [index, expected] of [5, 10, 20, 40].entries()) {
    assert.ok(Math.abs((gaps[index] ?? 0) - expected) <= 2, `pauses were ${gaps.join(', ')} s`)
  }
  assert.match((await outbox.find('x'))?.reason ?? '', /could not be confirmed/)
})

test('a refusal fails at once, and the next message of the chat goes on', async () => {
  await using stage = await setUp()
  const { account, outbox, add, reaches, told } = stage
  account.send = (_chat, id) =>
    id === 'W1' ? Promise.reject(new SendError('refused', 'no', { code: 479 })) : Promise.resolve()
  await add('x')
  await add('y')
  await reaches('x', 'failed')
  await reaches('y', 'sent')
  assert.equal((await outbox.find('x'))?.attempts, 1)
  assert.deepEqual(told, ['lost'])
})

test('messages of one chat never overtake each other, those of others are not held up', async () => {
  await using stage = await setUp()
  const { account, add, reaches, settles } = stage
  const held = Promise.withResolvers<undefined>()
  account.send = (chat) => (chat.startsWith('p1') ? held.promise : Promise.resolve())
  for (const id of ['a1', 'a2', 'a3']) await add(id)
  await add('b1', 'p2')
  await reaches('b1', 'sent')
  await settles()
  assert.deepEqual(
    account.sent.map((line) => line.split(' ')[0]),
    ['a1', 'b1'],
  )
  held.resolve(undefined)
  await reaches('a3', 'sent')
  assert.deepEqual(
    account.sent.map((line) => line.split(' ')[0]),
    ['a1', 'b1', 'a2', 'a3'],
  )
})

test('what may have left and never came back fails as unconfirmed when its time is over, the rest expires', async () => {
  await using stage = await setUp()
  const { clock, account, outbox, worker, add, reaches, told } = stage
  account.send = silent
  await add('x')
  await waitUntil(
    'it was tried',
    async () => (await outbox.find('x'))?.attempts === 1 && (await outbox.find('x'))?.status === 'pending',
  )
  account.isReady = false
  worker.connectionChanged('a')
  await add('y')
  await worker.expire()
  await waitUntil(
    'both wait',
    async () => (await outbox.find('y'))?.expiresAt !== null && (await outbox.find('x'))?.expiresAt !== null,
  )
  await clock.advance(300_000)
  await worker.expire()
  await reaches('x', 'failed')
  await reaches('y', 'expired')
  assert.match((await outbox.find('x'))?.reason ?? '', /could not be confirmed/)
  assert.deepEqual(told, ['lost', 'expired'])
  account.isReady = true
  worker.connectionChanged('a')
  await worker.drain()
  assert.deepEqual(account.sent, ['x W1'])
})

test('a deleted instance ends what is under way and fails everything', async () => {
  await using stage = await setUp()
  const { account, outbox, worker, add, reaches } = stage
  account.send = () => new Promise(() => undefined)
  await add('x')
  await add('y')
  await waitUntil('the first is under way', () => account.sent.length === 1)
  await worker.forget('a')
  for (const id of ['x', 'y']) {
    await reaches(id, 'failed')
    assert.equal((await outbox.find(id))?.reason, 'the instance was deleted')
  }
})

test('what departs is sent once, under the id it was stored with, and those behind it wait', async () => {
  await using stage = await setUp()
  const { account, outbox, depart, add, reaches } = stage
  const { leaves, outcomes } = await depart('x', async () => {
    assert.equal((await depart('y')).leaves, false, 'its chat is taken')
    await add('y')
    assert.deepEqual(account.sent, [], 'nothing leaves before it is stored')
  })
  assert.equal(leaves, true)
  await reaches('y', 'sent')
  assert.deepEqual(account.sent, ['x W1', 'y W3'])
  assert.deepEqual(outcomes, ['sent'])
  const row = await outbox.find('x')
  assert.deepEqual([row?.status, row?.attempts, row?.parts], ['sent', 1, [{ id: 'W1', of: 'text', state: 'sent' }]])
})

test('what departs without an acknowledgement is repeated under its id', async () => {
  await using stage = await setUp()
  const { clock, account, depart, reaches } = stage
  account.send = silent
  await depart('x')
  await reaches('x', 'pending')
  account.send = () => Promise.resolve()
  await clock.advance(5000)
  await reaches('x', 'sent')
  assert.deepEqual(account.sent, ['x W1', 'x W1'])
})

test('a connection that goes before the message is stored: it waits like any other, nothing being in doubt', async () => {
  await using stage = await setUp()
  const { account, outbox, worker, depart, reaches } = stage
  await depart('x', () => {
    account.isReady = false
    worker.connectionChanged('a')
    return Promise.resolve()
  })
  await waitUntil('it waits', async () => (await outbox.find('x'))?.expiresAt != null)
  const row = await outbox.find('x')
  assert.deepEqual([row?.status, row?.isWaiting, row?.attempts, row?.isUnconfirmed], ['pending', true, 0, false])
  account.isReady = true
  worker.connectionChanged('a')
  await reaches('x', 'sent')
  assert.deepEqual(account.sent, ['x W2'])
})

test('a connection that goes while the message is stored: it waits like any other, too', async () => {
  await using stage = await setUp()
  const { account, outbox, worker, depart, reaches } = stage
  account.send = () => {
    account.isReady = false
    return Promise.reject(new SendError('not_sent', 'the connection was lost'))
  }
  await depart('x', () => new Promise(setImmediate))
  await waitUntil('it waits', async () => (await outbox.find('x'))?.expiresAt != null)
  const row = await outbox.find('x')
  assert.deepEqual([row?.status, row?.isWaiting, row?.attempts, row?.isUnconfirmed], ['pending', true, 0, false])
  account.send = () => Promise.resolve()
  account.isReady = true
  worker.connectionChanged('a')
  await worker.drain()
  await reaches('x', 'sent')
})

test('what is not accepted after all does not hold up its chat, however long it is being made ready', async () => {
  await using stage = await setUp()
  const { account, depart, add, reaches } = stage
  const ready = Promise.withResolvers<undefined>()
  account.seal = () => ready.promise as Promise<unknown> as Promise<void>
  assert.equal((await depart('x', () => new Promise(setImmediate), { isAccepted: false })).leaves, true)
  account.seal = () => Promise.resolve()
  await add('y')
  await reaches('y', 'sent')
  ready.resolve(undefined)
  await new Promise(setImmediate)
  assert.deepEqual(account.sent, ['y W2'])
})

test('without a connection nothing departs', async () => {
  await using stage = await setUp()
  const { account, depart } = stage
  account.isReady = false
  assert.equal((await depart('x')).leaves, false)
})

test('what is stored and in no line is taken up, expires and fails like everything else', async () => {
  await using stage = await setUp()
  const { clock, account, outbox, worker, store, reaches, settles } = stage
  account.open.add('undecided')
  await store('undecided')
  await store('unheard')
  await worker.drain()
  await reaches('unheard', 'sent')
  await settles()
  assert.deepEqual(account.sent, ['unheard W1'])
  account.isReady = false
  await store('too late', 'p2')
  await worker.expire()
  await clock.advance(300_000)
  await worker.expire()
  await reaches('too late', 'expired')
  await store('of nobody', 'p3')
  account.exists = false
  await worker.forget('a')
  await store('left over', 'p3')
  await worker.drain()
  await reaches('left over', 'failed')
  assert.equal((await outbox.find('left over'))?.reason, 'the instance was deleted')
})

test('rows that are settled while they wait are counted no longer, wherever they are in their line', async () => {
  await using stage = await setUp()
  const { clock, account, outbox, transitions, worker, add, reaches } = stage
  account.isReady = false
  for (const id of ['x', 'y', 'z']) await add(id)
  await add('other', 'p2')
  await worker.expire()
  assert.deepEqual(worker.counts(), { pending: 4, lanes: 2, longestLane: 3 })
  for (const id of ['y', 'other']) {
    const row = await outbox.find(id)
    assert.ok(row && (await transitions.cancel(row, 'deleted', clock.now())))
    worker.drop(row)
  }
  await waitUntil('both are let go', () => worker.counts().pending === 2, { instead: () => worker.counts() })
  assert.deepEqual(worker.counts(), { pending: 2, lanes: 1, longestLane: 2 })
  await clock.advance(300_000)
  await worker.expire()
  await reaches('z', 'expired')
  await waitUntil('all are let go', () => worker.counts().pending === 0, { instead: () => worker.counts() })
  assert.deepEqual(worker.counts(), { pending: 0, lanes: 0, longestLane: 0 })
})

test('every part of a message takes a turn of its own', async () => {
  await using stage = await setUp({ perMinute: 2 })
  const { clock, account, add, reaches, settles } = stage
  await add('x', 'p1', 3)
  await waitUntil('two have left', () => account.sent.length === 2)
  await settles()
  assert.equal(account.sent.length, 2)
  await waitUntil('the third has left', async () => {
    await clock.advance(1000)
    return account.sent.length === 3
  })
  await reaches('x', 'sent')
  assert.ok(clock.monotonic() >= 60_000, `after ${clock.monotonic()} ms`)
})

test('files that are slow to fetch hold up no text to somebody else', async () => {
  await using stage = await setUp()
  const { account, add, reaches } = stage
  const slow = Promise.withResolvers<undefined>()
  let fetching = 0
  account.fetch = async () => {
    fetching++
    await slow.promise
  }
  for (let n = 0; n < 12; n++) await add(`file ${n}`, `p${n}`, 1)
  await waitUntil('as many as may are being fetched', () => fetching === 8)
  await add('text', 'somebody else')
  await reaches('text', 'sent')
  slow.resolve(undefined)
  await reaches('file 11', 'sent')
})
