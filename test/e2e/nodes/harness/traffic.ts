// Traffic both ways: customers write to their accounts, and an agent answers in their conversations. Each text is written once and
// has its number.

import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import type { SimHelpdesk } from '../../../../sim/helpdesk/sim-helpdesk.ts'
import type { SimPhone } from '../../../../sim/network/accounts/sim-phone.ts'
import type { SimPerson } from '../../../../sim/network/people/sim-person.ts'
import { textOfMessage } from '../../../../sim/network/people/received-message.ts'
import type { SeededRandom } from '../../../../sim/network/seeded-random.ts'
import { DeskClient } from '../../../sim-helpdesk/harness/desk-client.ts'
import type { ChatHistory, Written } from './history.ts'

export type Customer = { name: string; phone: SimPhone; person: SimPerson }
type Chat = Customer & { conversation: number; random: SeededRandom; received: string[]; answered: Written[] }

/** The pause between two messages of one writer. */
const pauseMs = { least: 300, more: 900 }
/** The helpdesk delivers a callback long before, or gives it up. */
const callbackMs = 120_000

export class Traffic {
  readonly #helpdesk: SimHelpdesk
  readonly #agent: DeskClient
  readonly #chats: Chat[] = []
  #isOver = false
  #talks: Promise<unknown> = Promise.resolve()

  constructor(helpdesk: SimHelpdesk) {
    this.#helpdesk = helpdesk
    const { token } = helpdesk.world.addAgent({ name: 'Ana', role: 'administrator' })
    this.#agent = new DeskClient(helpdesk, token)
  }

  /** Each customer says hello, and has a conversation afterwards. */
  async open(customers: readonly Customer[], random: SeededRandom): Promise<void> {
    const opening = customers.map(async (customer) => {
      const { id } = customer.person.text(customer.phone, `${customer.name} hello`)
      const { conversationId } = await this.#helpdesk.waitForMessage(undefined, ({ sourceId }) => sourceId === id)
      const own = random.fork(customer.name)
      this.#chats.push({ ...customer, conversation: conversationId, random: own, received: [id], answered: [] })
    })
    await Promise.all(opening)
    // A message that was written before the first callback of an inbox is never sent.
    await this.#helpdesk.settled()
  }

  start(): void {
    this.#isOver = false
    this.#talks = Promise.all(this.#chats.flatMap((chat) => [this.#writeAll(chat), this.#answerAll(chat)]))
  }

  /** Nothing more is written; every callback has its answer. */
  async stop(): Promise<void> {
    this.#isOver = true
    await this.#talks
  }

  get counts(): { received: number; answered: number; accepted: number } {
    const answered = this.#chats.flatMap((chat) => chat.answered)
    return {
      received: this.#chats.reduce((sum, { received }) => sum + received.length, 0),
      answered: answered.length,
      accepted: answered.filter(({ isConfirmed }) => isConfirmed).length,
    }
  }

  get histories(): ChatHistory[] {
    const shown = this.#helpdesk.messages().filter(({ messageType }) => messageType === 'incoming')
    return this.#chats.map((chat) => historyOf(chat, shown))
  }

  async #writeAll({ name, phone, person, random: all, received }: Chat): Promise<void> {
    const random = all.fork('received')
    for (let n = 1; !this.#isOver; n++) {
      await pause(pauseMs.least + random.below(pauseMs.more))
      received.push(person.text(phone, `${name} in ${n}`).id)
    }
  }

  /** The agent waits for the answer to each callback, so the order of the accepted ones is known. */
  async #answerAll(chat: Chat): Promise<void> {
    const random = chat.random.fork('answered')
    for (let n = 1; !this.#isOver; n++) {
      await pause(pauseMs.least + random.below(pauseMs.more))
      await this.#answer(chat, `${chat.name} out ${n}`)
    }
  }

  async #answer({ conversation, answered }: Chat, content: string): Promise<void> {
    const written = { id: content, isConfirmed: false }
    answered.push(written)
    const path = `/conversations/${conversation}/messages`
    const { status, body, text } = await this.#agent.post(path, { content, message_type: 'outgoing' })
    assert.equal(status, 200, text)
    const { error } = await this.#helpdesk.waitForDelivery(
      `the callback of "${content}"`,
      (one) => one.event === 'message_created' && 'id' in one.body && one.body.id === body.id,
      callbackMs,
    )
    written.isConfirmed = error === null
  }
}

type Shown = { conversationId: number; sourceId: string | null }

function historyOf(
  { name, phone, person, conversation, received, answered }: Chat,
  shown: readonly Shown[],
): ChatHistory {
  const unconfirmed = new Set(phone.companion.books.unacknowledgedIds())
  const own = new Set(received)
  const conversations = shown.filter(({ sourceId }) => own.has(sourceId ?? '')).map((one) => one.conversationId)
  const arrived = shown.filter((one) => one.conversationId === conversation).map(({ sourceId }) => sourceId ?? '')
  const texts = person.messages.entries.filter((one) => !one.own).map(({ message }) => textOfMessage(message) ?? '')
  return {
    name,
    inbound: { written: received.map((id) => ({ id, isConfirmed: !unconfirmed.has(id) })), arrived },
    outbound: { written: answered, arrived: texts },
    conversations: [...new Set(conversations)],
  }
}
