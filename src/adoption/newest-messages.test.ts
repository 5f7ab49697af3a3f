import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { HelpdeskInbox } from '../core/downstream.ts'
import type { ListedMessage } from '../core/helpdesk/message.ts'
import { readNewestMessages } from './newest-messages.ts'

/** A conversation as Chatwoot lists it: selected by id, sorted by time, and cut after a thousand. */
class LongConversation {
  readonly #messages: readonly ListedMessage[]
  requests = 0

  constructor(messages: readonly ListedMessage[]) {
    this.#messages = messages
  }

  async newest(): Promise<number[]> {
    const newestId = Math.max(...this.#messages.map(({ id }) => id))
    const inbox: Pick<HelpdeskInbox, 'messagesFrom'> = { messagesFrom: (_, fromId) => this.#from(fromId) }
    const ask = <T>(question: (helpdesk: HelpdeskInbox) => Promise<T>) => question(inbox as HelpdeskInbox)
    const found = await readNewestMessages({ destination: 'd', ask }, { conversationId: 1, newestId })
    return found.map(({ id }) => id)
  }

  #from(fromId: number) {
    this.requests++
    const listed = this.#messages.filter(({ id }) => id >= fromId).sort((one, other) => one.createdAt - other.createdAt)
    return Promise.resolve({ messages: listed.slice(0, 1000), isWhole: listed.length < 1000 })
  }
}

/** Every `every`-th id is a message of the conversation. */
function conversationOf(count: number, { every = 1, timeOf = (id: number) => id } = {}): LongConversation {
  const message = { sourceId: 'WAID:x', isIncoming: true, content: 'x' }
  const ids = Array.from({ length: count }, (_, nth) => (nth + 1) * every)
  return new LongConversation(ids.map((id) => ({ ...message, id, createdAt: timeOf(id) })))
}

function lastIds(count: number, every = 1): number[] {
  return Array.from({ length: 200 }, (_, nth) => (count - 199 + nth) * every)
}

test('a short conversation takes one request', async () => {
  const short = conversationOf(999)
  assert.deepEqual(await short.newest(), lastIds(999))
  assert.equal(short.requests, 1)
  assert.deepEqual(await conversationOf(2).newest(), [1, 2])
})

test('of a long conversation the newest messages are found, however many there are', async () => {
  for (const [count, every] of [
    [1000, 1],
    [1001, 700],
    [60_000, 1],
    [60_000, 37],
  ] as const) {
    const long = conversationOf(count, { every })
    assert.deepEqual(await long.newest(), lastIds(count, every), `${count} messages`)
    assert.ok(long.requests < 20, `${long.requests} requests`)
  }
})

test('old messages that were imported late are not the newest', async () => {
  // The ids from 301 on were imported after the first 300, but were written before them.
  const imported = conversationOf(600, { timeOf: (id) => (id > 300 ? id - 1000 : id) })
  assert.deepEqual(
    await imported.newest(),
    Array.from({ length: 200 }, (_, nth) => 101 + nth),
  )
})
