// Stored rows are taken up in the background after an instance was taken.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { DownstreamError } from '../../../src/core/downstream.ts'
import { StorageError } from '../../../src/storage/engine/statement.ts'
import { engines } from '../../harness/databases.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { BridgeBed, desk, message, person } from './harness/bridge-bed.ts'

const stored = 40
const moreThanAPage = 101

async function storeRows(bed: BridgeBed, count: number): Promise<string[]> {
  const texts = Array.from({ length: count }, (_, index) => `stored ${index}`)
  await Promise.all(texts.map((text) => bed.store(message(text))))
  return texts
}

/** Hundreds of messages, one after the other. */
function allPosted(bed: BridgeBed, count: number): Promise<void> {
  return waitUntil('all messages are posted', () => bed.helpdesk.messages.length >= count)
}

function failuresOf(bed: BridgeBed): number {
  return bed.logs.withMessage('a message was not delivered').length
}

for (const engine of engines) {
  describe(`rows that an earlier process has stored, on ${engine}`, () => {
    test('are posted before a message of their chat that comes while they are taken up, and each is posted once', async () => {
      await using bed = await BridgeBed.open({ engine })
      const texts = await storeRows(bed, stored)
      await bed.take('a')
      await bed.receive(message('new'))
      assert.equal(bed.inbound.counts().pending, stored + 1)
      await allPosted(bed, stored + 1)
      await bed.drained()
      await bed.settle()
      assert.deepEqual(bed.helpdesk.contents, [...texts, 'new'])
      assert.equal(bed.inbound.counts().pending, 0)
    })

    test('stay stored when the instance leaves meanwhile, and are all posted when it comes back', async () => {
      await using bed = await BridgeBed.open({ engine })
      const texts = await storeRows(bed, stored)
      await bed.take('a')
      await bed.leave('a')
      assert.equal(bed.inbound.counts().pending, 0)
      await bed.take('a')
      await allPosted(bed, stored)
      await bed.drained()
      assert.deepEqual(bed.helpdesk.contents, texts)
    })
  })
}

test('a message waits until the stored rows are in their queues, also those of other chats', async () => {
  await using bed = await BridgeBed.open()
  const group = { chat: { kind: 'group' as const, id: '120363000000000001' } }
  await bed.store(message('of a person'))
  await bed.store(message('stored', group))
  const rename = (from: string, to: string) =>
    bed.database.write({ sql: `ALTER TABLE ${from} RENAME TO ${to}`, parameters: [] })
  // The row of the person cannot be taken up.
  await rename('people', 'people_away')
  await bed.take('a')
  await bed.receive(message('new', group))
  await bed.settle()
  await rename('people_away', 'people')
  await bed.postedWithin(3, 60_000)
  const inGroup = bed.helpdesk.contents.filter((content) => /stored|new/.test(content))
  assert.deepEqual(
    inGroup.map((content) => content.split('\n').at(-1)),
    ['stored', 'new'],
  )
})

test('a chat keeps its order although storage was away for long and then refused its first message once', async () => {
  await using bed = await BridgeBed.open()
  for (const text of ['first', 'second']) await bed.store(message(text))
  const { database } = bed
  const read = database.read.bind(database)
  const failures = ['unavailable', 'unavailable', 'unavailable', 'failed'] as const
  let failed = 0
  const fails: typeof database.read = (query, opens) => {
    const { sql } = 'compile' in query ? query.compile() : query
    const failure = sql.includes('"people"') ? failures[failed++] : undefined
    return failure ? Promise.reject(new StorageError(failure, 'no answer')) : read(query, opens)
  }
  database.read = fails
  const free = Promise.withResolvers<undefined>()
  bed.helpdesk.script = async (call) => {
    const asked = bed.helpdesk.calls.filter((each) => each === 'ensureContact')
    if (call === 'ensureContact' && asked.length === 1) await free.promise
  }
  await bed.take('a')
  for (let passed = 0; passed < 60 && bed.inbound.queues().longest === 0; passed++) await bed.pass(500)
  await bed.settle()
  free.resolve(undefined)
  await bed.postedWithin(2, 60_000)
  assert.ok(failed > failures.length, 'storage failed')
  assert.deepEqual(bed.helpdesk.contents, ['first', 'second'])
})

test('of many chats a limited number is worked on at once', async () => {
  await using bed = await BridgeBed.open()
  const chats = 250
  for (let n = 0; n < chats; n++) await bed.store(message('hello', { chat: person(`55119000${1000 + n}`) }))
  const free = Promise.withResolvers<undefined>()
  bed.helpdesk.script = async (call) => {
    if (call === 'ensureContact') await free.promise
  }
  const asked = () => bed.helpdesk.calls.filter((call) => call === 'ensureContact').length
  await bed.take('a')
  await waitUntil('all rows are queued', () => bed.inbound.queues().chats === chats)
  await waitUntil('200 chats are worked on', () => asked() === 200, { instead: asked })
  await bed.settle()
  assert.equal(asked(), 200)
  free.resolve(undefined)
  await bed.posted(chats)
  await bed.drained()
})

test('200 chats that cannot be delivered do not stop another chat', async () => {
  await using bed = await BridgeBed.open()
  const failing = 200
  const good = '5511988880000'
  bed.helpdesk.script = (call) => {
    const { length } = bed.helpdesk.calls.filter((each) => each === 'ensureContact')
    if (call === 'ensureContact' && length <= failing) throw new DownstreamError('transient', 'try again later')
  }
  for (let n = 0; n < failing; n++) await bed.store(message('hello', { chat: person(`55119000${1000 + n}`) }))
  await bed.take('a')
  await waitUntil('all of them have failed', () => failuresOf(bed) === failing, { instead: () => failuresOf(bed) })
  await bed.receive(message('good', { chat: person(good) }))
  await bed.posted(1)
  assert.deepEqual(bed.helpdesk.contents, ['good'])
  assert.equal(failuresOf(bed), failing, 'the others still pause')
  await bed.postedWithin(failing + 1, 60_000)
  await bed.drained()
})

test('200 chats of a held destination keep no place, and are posted when it works again', async () => {
  await using bed = await BridgeBed.open()
  let isBroken = true
  bed.helpdesk.script = () => {
    if (isBroken) throw new DownstreamError('destination', 'it is broken')
  }
  for (let n = 0; n < 250; n++) await bed.store(message('hello', { chat: person(`55119000${1000 + n}`) }))
  await bed.take('a')
  await waitUntil('all rows are queued', () => bed.inbound.queues().chats === 250)
  await bed.settle()
  const other = { ...desk, key: 'http://other|1|1', baseUrl: 'http://other' }
  bed.routes.set('a', other)
  isBroken = false
  await bed.receive(message('to the other one', { chat: person('5511988880000') }))
  await bed.posted(1)
  assert.deepEqual(bed.helpdesk.contents, ['to the other one'])
  await bed.postedWithin(251, 120_000)
  await bed.drained()
})

test('a parked row that is tried again while stored rows are taken up is posted once', async () => {
  await using bed = await BridgeBed.open()
  await bed.store(message('parked'))
  await bed.database.write({ sql: `UPDATE inbox SET state = 'parked'`, parameters: [] })
  const texts = await storeRows(bed, moreThanAPage)
  await bed.take('a')
  assert.equal(await bed.inbound.retryParked('a'), 1)
  await allPosted(bed, moreThanAPage + 1)
  await bed.drained()
  await bed.settle()
  assert.deepEqual(bed.helpdesk.contents.toSorted(), ['parked', ...texts].toSorted())
})
