// An import from its plan to its result.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BridgeError } from '../../../src/core/errors.ts'
import type { Anchor } from '../../../src/core/history/past-events.ts'
import { engines } from '../../harness/databases.ts'
import { message, person } from '../../bridge/inbound/harness/bridge-bed.ts'
import { ImportBed, past } from '../harness/import-bed.ts'

const maria = person('5511988887777')
const mariaJid = '5511988887777@s.whatsapp.net'
const bob = person('5511977776666')
const byLid = { kind: 'person', phone: null, lid: '900001' } as const
const dayMs = 86_400_000

for (const engine of engines) {
  test(`kept messages are posted oldest first into conversations that are resolved at the end, on ${engine}`, async () => {
    await using bed = await ImportBed.open({ engine })
    const first = past(bed, 'first', 1)
    const third = past(bed, 'third', 3)
    const ofBob = past(bed, 'bob', 2, { chat: bob, sender: bob })
    await bed.keep([third, first, past(bed, 'second', 2, { fromMe: true }), ofBob])
    const run = bed.start(await bed.job())
    const result = await bed.finish(run)
    // The chats are imported side by side, so either conversation may be the first.
    assert.deepEqual(
      bed.conversations
        .map(({ status, shown }) => ({ status, shown }))
        .sort((one, other) => one.shown.length - other.shown.length),
      [
        { status: 'resolved', shown: ['#', '< bob'] },
        { status: 'resolved', shown: ['#', '< first', '> second', '< third'] },
      ],
    )
    assert.deepEqual(result, {
      ...{ chats: 2, scanned: 2, imported: 2, skipped: 0, noAnchor: 0, errors: 0, posted: 4 },
      ...{ messagesSeen: 4, messagesKept: 4, messagesSkipped: 0, messageErrors: 0 },
      ...{ oldestAt: first.at, newestAt: third.at },
    })
    assert.equal(await bed.keptRows(), 0)
    assert.deepEqual(await bed.importing(), [])
    const { estimatedEndAt, ...progress } = run.progress()
    assert.deepEqual(progress, { done: 2, total: 2, seen: 4, kept: 4, posted: 4, skipped: 0, errors: 0 })
    assert.ok(estimatedEndAt !== null && estimatedEndAt <= bed.clock.now())
  })

  test(`a second import of the same messages posts nothing and creates no conversation, on ${engine}`, async () => {
    await using bed = await ImportBed.open({ engine })
    const events = [past(bed, 'one', 1), past(bed, 'two', 2)]
    await bed.keep(events)
    await bed.run(await bed.job())
    await bed.keep(events)
    const { imported, skipped, posted, messagesSkipped } = await bed.run(await bed.job())
    assert.deepEqual(
      { imported, skipped, posted, messagesSkipped },
      { imported: 0, skipped: 1, posted: 0, messagesSkipped: 2 },
    )
    assert.equal(bed.conversations.length, 1)
    assert.deepEqual(bed.conversations[0]?.shown, ['#', '< one', '< two'])
  })
}

test('messages that were bridged live are not posted again', async () => {
  await using bed = await ImportBed.open()
  const live = past(bed, 'live', 2)
  await bed.bridge.receive(live)
  await bed.bridge.posted(1)
  await bed.bridge.drained()
  await bed.keep([live])
  const { posted, messagesSkipped } = await bed.run(await bed.job())
  assert.deepEqual({ posted, messagesSkipped }, { posted: 0, messagesSkipped: 1 })
  assert.deepEqual(
    bed.conversations.map(({ shown }) => shown),
    [['< live']],
  )
})

test('messages that say nothing to agents open no conversation', async () => {
  await using bed = await ImportBed.open()
  const { id, at, chat, sender, pushName } = past(bed, 'x', 1)
  const target = { chat: mariaJid, id: 'W', fromMe: false, participant: null }
  const reaction = { kind: 'reaction', id, at, chat, sender, pushName, fromMe: true, target, emoji: '👍' } as const
  await bed.keep([reaction])
  const { imported, skipped, messagesKept } = await bed.run(await bed.job())
  assert.deepEqual({ imported, skipped, messagesKept }, { imported: 0, skipped: 1, messagesKept: 1 })
  assert.deepEqual(bed.helpdesk.contacts, [])
})

test('messages before the bound of days stay kept', async () => {
  await using bed = await ImportBed.open()
  await bed.keep([past(bed, 'new', 1), message('old', { at: bed.clock.now() - 8 * dayMs })])
  const { posted, messagesKept } = await bed.run(await bed.job())
  assert.deepEqual({ posted, messagesKept }, { posted: 1, messagesKept: 1 })
  assert.equal(await bed.keptRows(), 1)
})

test('chats that are ignored are left out', async () => {
  await using bed = await ImportBed.open({ environment: { SERVICE_IGNORE_JIDS: '5511977776666@*' } })
  await bed.keep([past(bed, 'maria', 1), past(bed, 'bob', 2, { chat: bob, sender: bob })])
  const { chats } = await bed.run(await bed.job())
  assert.equal(chats, 1)
  assert.deepEqual(bed.helpdesk.contents.slice(1), ['maria'])
})

test('the chats that the phone keeps under both addresses of a person become one conversation', async () => {
  await using bed = await ImportBed.open()
  await bed.bridge.set.people.upsert('a', { phone: maria.phone, lid: byLid.lid })
  await bed.keep([past(bed, 'by phone', 1), past(bed, 'by phone again', 3)])
  await bed.keep([past(bed, 'by lid', 2, { chat: byLid, sender: byLid })])
  const { chats } = await bed.run(await bed.job())
  assert.equal(chats, 1)
  assert.deepEqual(
    bed.conversations.map(({ shown }) => shown),
    [['#', '< by phone', '< by lid', '< by phone again']],
  )
})

test('the phone is asked for the messages before the oldest one that is known', async () => {
  await using bed = await ImportBed.open()
  const live = past(bed, 'live', 9)
  await bed.bridge.receive(live)
  await bed.bridge.drained()
  const asked: { before: Anchor; count: number }[] = []
  bed.requestHistory = async (before, count) => {
    asked.push({ before, count })
    await bed.keep([past(bed, 'older', 1), past(bed, 'old', 2)])
    return { seen: 5 }
  }
  const { messagesSeen, messagesKept, posted, imported } = await bed.run(await bed.job({ params: { count: 50 } }))
  assert.deepEqual(
    asked.map(({ before, count }) => ({ id: before.key.id, at: before.at, count })),
    [{ id: live.id, at: live.at, count: 50 }],
  )
  assert.deepEqual(
    { messagesSeen, messagesKept, posted, imported },
    { messagesSeen: 5, messagesKept: 2, posted: 2, imported: 1 },
  )
  assert.deepEqual(
    bed.conversations.map(({ shown }) => shown),
    [['< live'], ['#', '< older', '< old']],
  )
})

test('more messages than the phone sends in one answer are asked for in several questions', async () => {
  await using bed = await ImportBed.open()
  await bed.keep([past(bed, 'known', 200)])
  const asked: { id: string; count: number }[] = []
  bed.requestHistory = async ({ key }, count) => {
    asked.push({ id: key.id, count })
    const first = 150 - 50 * asked.length
    await bed.keep(Array.from({ length: count }, (_, n) => past(bed, `older ${first + n}`, first + n)))
    return { seen: count }
  }
  const { messagesSeen, posted } = await bed.run(await bed.job({ params: { count: 120 } }), 1000)
  assert.deepEqual(
    asked.map(({ count }) => count),
    [50, 50, 20],
  )
  assert.equal(new Set(asked.map(({ id }) => id)).size, 3)
  assert.deepEqual({ messagesSeen, posted }, { messagesSeen: 121, posted: 121 })
})

test('a phone that stops to answer after its first messages has sent enough for an import', async () => {
  await using bed = await ImportBed.open()
  await bed.keep([past(bed, 'known', 200)])
  let questions = 0
  bed.requestHistory = async (_before, count) => {
    if (++questions > 1) throw new Error('the session ended')
    await bed.keep(Array.from({ length: count }, (_, n) => past(bed, `older ${n}`, n)))
    return { seen: count }
  }
  const { posted, errors } = await bed.run(await bed.job({ params: { count: 120 } }), 1000)
  assert.deepEqual({ posted, errors }, { posted: 51, errors: 0 })
})

test('a chat of which the phone has nothing more is skipped', async () => {
  await using bed = await ImportBed.open()
  await bed.bridge.receive(past(bed, 'live', 9))
  await bed.bridge.drained()
  const { skipped, messagesSeen } = await bed.run(await bed.job({ params: { count: 50 } }))
  assert.deepEqual({ skipped, messagesSeen }, { skipped: 1, messagesSeen: 0 })
})

test('a chat that no message is known of has no anchor', async () => {
  await using bed = await ImportBed.open()
  const job = await bed.job({ type: 'history_chat', params: { chat: [mariaJid], count: 50 } })
  const { chats, noAnchor } = await bed.run(job)
  assert.deepEqual({ chats, noAnchor }, { chats: 1, noAnchor: 1 })
  const people = await bed.bridge.set.people.lookUp('a', maria)
  assert.equal(people, undefined)
})

test('all spellings of a number that a request names are one chat', async () => {
  await using bed = await ImportBed.open()
  await bed.keep([past(bed, 'one', 1)])
  const chat = ['551188887777@s.whatsapp.net', mariaJid, '900001@lid']
  const job = await bed.job({ type: 'history_chat', params: { chat, count: 50 } })
  const { chats, imported, noAnchor } = await bed.run(job)
  assert.deepEqual({ chats, imported, noAnchor }, { chats: 1, imported: 1, noAnchor: 0 })
})

test('a phone that does not answer fails the import of one chat, and says what to do', async () => {
  await using bed = await ImportBed.open()
  await bed.keep([past(bed, 'kept', 1)])
  bed.requestHistory = (_before, _count, signal) =>
    new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => {
        reject(signal.reason as Error)
      })
    })
  const job = await bed.job({ type: 'history_chat', params: { chat: [mariaJid], count: 50, timeoutMs: 10_000 } })
  await assert.rejects(bed.run(job, 1000), (error) => {
    assert.ok(error instanceof BridgeError)
    assert.equal(error.code, 'SERVICE_NETWORK_FAILED')
    assert.match(error.message, /within 10 s: open WhatsApp on the phone/)
    return true
  })
  assert.deepEqual(bed.counted, ['a wa_error'])
  assert.deepEqual(bed.helpdesk.conversations, [])
})

test('a phone that does not answer for one chat does not stop the import of all', async () => {
  await using bed = await ImportBed.open()
  await bed.keep([past(bed, 'maria', 1)])
  await bed.bridge.receive(past(bed, 'bob', 2, { chat: bob, sender: bob }))
  await bed.bridge.drained()
  bed.requestHistory = (before) =>
    before.key.chat === mariaJid ? Promise.resolve({ seen: 0 }) : Promise.reject(new Error('the session ended'))
  const { imported, errors } = await bed.run(await bed.job({ params: { count: 50 } }))
  assert.deepEqual({ imported, errors }, { imported: 1, errors: 1 })
  assert.deepEqual(bed.counted, ['a wa_error'])
})

test('an import that begins before the account is connected waits for the connection', async () => {
  await using bed = await ImportBed.open()
  await bed.bridge.receive(past(bed, 'live', 9))
  await bed.bridge.drained()
  bed.requestHistory = async () => {
    await bed.keep([past(bed, 'old', 1)])
    return { seen: 1 }
  }
  bed.isConnected = false
  const run = bed.start(await bed.job({ params: { count: 50 } }))
  for (let seconds = 0; seconds < 20; seconds++) await bed.bridge.pass(1000)
  bed.reconnect()
  const { imported, errors } = await bed.finish(run)
  assert.deepEqual({ imported, errors, counted: bed.counted }, { imported: 1, errors: 0, counted: [] })
})

test('a phone whose answer is lost with the connection is asked again in the next session', async () => {
  await using bed = await ImportBed.open()
  await bed.bridge.receive(past(bed, 'live', 9))
  await bed.bridge.drained()
  let questions = 0
  bed.requestHistory = async () => {
    if (++questions === 1) {
      bed.isConnected = false
      throw new Error('the connection ended before the phone answered')
    }
    await bed.keep([past(bed, 'old', 1)])
    return { seen: 1 }
  }
  const run = bed.start(await bed.job({ params: { count: 50 } }))
  for (let seconds = 0; seconds < 10; seconds++) await bed.bridge.pass(1000)
  bed.reconnect()
  const { imported, errors } = await bed.finish(run)
  assert.deepEqual({ imported, errors, questions }, { imported: 1, errors: 0, questions: 2 })
})

test('the phone cannot be asked while the account is not connected', async () => {
  await using bed = await ImportBed.open()
  await bed.keep([past(bed, 'kept', 1)])
  bed.isConnected = false
  const job = await bed.job({ type: 'history_chat', params: { chat: [mariaJid], count: 50 } })
  await assert.rejects(bed.run(job), { code: 'SERVICE_NOT_READY' })
  // What is kept needs no phone.
  const { imported } = await bed.run(await bed.job({ type: 'history_pairing' }))
  assert.equal(imported, 1)
})
