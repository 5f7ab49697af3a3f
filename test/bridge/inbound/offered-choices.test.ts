// How often the message map is read to know whether a text is an answer.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { OfferedChoices } from '../../../src/bridge/conversations/offered-choices.ts'
import { LeaseStore } from '../../../src/storage/stores/lease-store.ts'
import { OfferStore } from '../../../src/storage/stores/messages/offer-store.ts'
import { SentMessageStore } from '../../../src/storage/stores/messages/sent-message-store.ts'
import { engines, newDatabase } from '../../harness/databases.ts'
import type { EngineName } from '../../../src/storage/database.ts'
import { ManualClock } from '../../harness/manual-clock.ts'
import { holds } from '../../harness/holds.ts'

const dayMs = 24 * 3_600_000
const address = '5511888880001@s.whatsapp.net'

class Stage {
  readonly clock = new ManualClock()
  readonly reads: string[] = []
  choices: OfferedChoices
  readonly #opened: Awaited<ReturnType<typeof newDatabase>>
  #ids = 0

  constructor(opened: Awaited<ReturnType<typeof newDatabase>>) {
    this.#opened = opened
    this.choices = this.newProcess()
  }

  static async open(engine: EngineName = 'sqlite'): Promise<Stage> {
    const opened = await newDatabase(engine)
    await new LeaseStore(opened.database).acquire('me', 600_000)
    return new Stage(opened)
  }

  newProcess(): OfferedChoices {
    const store = new OfferStore(this.#opened.database)
    return new OfferedChoices({
      clock: this.clock,
      store: {
        chatsWithOffers: (...given) => {
          this.reads.push('chats')
          return store.chatsWithOffers(...given)
        },
        newest: (...given) => {
          this.reads.push('newest')
          return store.newest(...given)
        },
      },
    })
  }

  /** We send a message to the chat. */
  async send(chatId: string, choices?: readonly string[], networkAt = this.clock.now()): Promise<void> {
    const id = `M${++this.#ids}`
    const now = this.clock.now()
    const step = new SentMessageStore(this.#opened.database, holds.holdOf).insertStep({
      ...{ id, instance: 'n0', destination: 'd', chatId, kind: 'message', conversationId: 1, messageId: 1 },
      networkKey: { chat: address, id, fromMe: true, participant: null },
      content: { text: 'x', ...(choices && { choices }) },
      ...{ at: now, networkAt },
    })
    await this.#opened.database.write(step)
  }

  chosen(text: string, chatId = 'p1', instance = 'n0'): Promise<string | null> {
    const now = this.clock.now()
    return this.choices.chosen(instance, { chatId, text, quotes: null, at: now, receivedAt: now })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#opened[Symbol.asyncDispose]()
  }
}

for (const engine of engines) {
  test(`a text in a chat without an offer causes no read, except for the first of its instance, on ${engine}`, async () => {
    await using stage = await Stage.open(engine)
    await stage.send('p1', ['Yes', 'No'])
    await stage.send('p2')
    for (const chat of ['p2', 'p3', 'p4']) assert.equal(await stage.chosen('2', chat), null)
    assert.deepEqual(stage.reads, ['chats'])
    assert.equal(await stage.chosen('2'), 'No')
    assert.equal(await stage.chosen('x'.repeat(501)), null)
    assert.deepEqual(stage.reads, ['chats', 'newest'])
    assert.equal(await stage.chosen('2', 'p1', 'other'), null)
  })
}

test('parallel texts share the first read, and a read that failed is repeated', async () => {
  await using stage = await Stage.open()
  await stage.send('p1', ['Yes', 'No'])
  const found = await Promise.all(['p1', 'p2', 'p3'].map((chat) => stage.chosen('1', chat)))
  assert.deepEqual(found, ['Yes', null, null])
  assert.deepEqual(stage.reads, ['chats', 'newest'])
  let isAway = true
  const store = {
    chatsWithOffers: () => (isAway ? Promise.reject(new Error('storage is away')) : Promise.resolve(['p1'])),
    newest: () => Promise.resolve({ networkId: 'M', networkAt: 0, claimedAt: 0, choices: ['Yes'] }),
  }
  const choices = new OfferedChoices({ store, clock: stage.clock })
  const text = { chatId: 'p1', text: '1', quotes: null, at: 1000, receivedAt: 1000 }
  await assert.rejects(choices.chosen('n0', text), /storage is away/)
  isAway = false
  assert.equal(await choices.chosen('n0', text), 'Yes')
})

test('an offer that is sent after the first read is known, and so is one that is being stored during it', async () => {
  await using stage = await Stage.open()
  assert.equal(await stage.chosen('1'), null)
  stage.choices.offered('n0', 'p1')
  await stage.send('p1', ['Yes', 'No'])
  assert.equal(await stage.chosen('1'), 'Yes')
  const second = stage.newProcess()
  second.offered('n0', 'p9')
  await stage.send('p9', ['Red'])
  const now = stage.clock.now()
  assert.equal(await second.chosen('n0', { chatId: 'p9', text: '1', quotes: null, at: now, receivedAt: now }), 'Red')
  assert.equal(await second.chosen('n0', { chatId: 'p1', text: '1', quotes: null, at: now, receivedAt: now }), 'Yes')
})

test('the memory is begun anew after a day, after a merge, and when the instance comes back', async () => {
  await using stage = await Stage.open()
  await stage.send('p1', ['Yes'])
  await stage.chosen('1', 'p2')
  stage.choices.merged('n0')
  assert.equal(await stage.chosen('1'), 'Yes')
  stage.choices.leave('n0')
  assert.equal(await stage.chosen('1'), 'Yes')
  assert.deepEqual(stage.reads, ['chats', 'chats', 'newest', 'chats', 'newest'])
  await stage.clock.advance(dayMs + 1)
  assert.equal(await stage.chosen('1'), null)
  await stage.clock.advance(3_600_000)
  stage.choices.leave('n0')
  assert.equal(await stage.chosen('1'), null)
  assert.deepEqual(stage.reads.slice(5), ['chats', 'newest', 'chats'])
})

test('an instance with more offers than are remembered asks for every short text', async () => {
  const clock = new ManualClock()
  let asked = 0
  const chats = Array.from({ length: 10_001 }, (_, index) => `p${index}`)
  const store = {
    chatsWithOffers: () => Promise.resolve(chats),
    newest: () => {
      asked++
      return Promise.resolve(undefined)
    },
  }
  const choices = new OfferedChoices({ store, clock })
  const text = { text: 'hello', quotes: null, at: 0, receivedAt: 0 }
  assert.equal(await choices.chosen('n0', { ...text, chatId: 'unknown' }), null)
  assert.equal(asked, 1)
})

test('our newest message by the clock of the network counts, also when an older one was stored after it', async () => {
  await using stage = await Stage.open()
  await stage.send('p1', ['Yes', 'No'])
  const before = stage.clock.now() - 5000
  await stage.clock.advance(2000)
  await stage.send('p1', undefined, before)
  assert.equal(await stage.chosen('2'), 'No')
})

test('within one second, a text that we received before the offer was acknowledged is no answer', async () => {
  const clock = new ManualClock()
  const store = {
    chatsWithOffers: () => Promise.resolve(['p1']),
    newest: () => Promise.resolve({ networkId: 'M', networkAt: 5000, claimedAt: 5400, choices: ['Yes'] }),
  }
  const choices = new OfferedChoices({ store, clock })
  const text = { chatId: 'p1', text: '1', quotes: null, at: 5000 }
  assert.equal(await choices.chosen('n0', { ...text, receivedAt: 5399 }), null)
  assert.equal(await choices.chosen('n0', { ...text, receivedAt: 5400 }), 'Yes')
})
