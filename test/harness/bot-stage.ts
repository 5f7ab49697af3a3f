// A service as a process of its own, a bot that writes bursts to several customers at a busy helpdesk, and agents who press
// Retry. In the end the stage compares what the helpdesk shows with what the customers have.

import assert from 'node:assert/strict'
import { busy } from '../../sim/helpdesk/settings.ts'
import { textOfMessage } from '../../sim/network/people/received-message.ts'
import type { SimPerson } from '../../sim/network/people/sim-person.ts'
import type { SeenMessage } from '../../sim/helpdesk/snapshots.ts'
import type { Database } from '../../src/storage/database.ts'
import { DeskClient, openChat } from '../sim-helpdesk/harness/desk-client.ts'
import { harshNetwork } from './harsh-network.ts'
import { ProcessWorld } from './process-world.ts'
import type { ProcessWorldOptions } from './process-world.ts'
import { openTestConnection } from './test-connection.ts'
import { mistakesIn } from './truth.ts'
import type { Mistakes } from './truth.ts'
import { LateCallbacks } from './late-callbacks.ts'
import { waitUntil } from './wait-until.ts'

type Customer = { person: SimPerson; conversation: number }

// Looks are repeated ten seconds after each change, and later.
const settleMs = 240_000

export class BotStage {
  readonly world: ProcessWorld
  readonly customers: readonly Customer[]
  readonly #database: Database
  readonly #bot: DeskClient
  readonly #retried = new Set<number>()

  private constructor(world: ProcessWorld, customers: readonly Customer[], database: Database) {
    this.world = world
    this.customers = customers
    this.#database = database
    this.#bot = botOf(world)
  }

  static async open({ customers: count, ...options }: ProcessWorldOptions & { customers: number }): Promise<BotStage> {
    const world = await ProcessWorld.open({
      ...options,
      network: { ...harshNetwork, ...options.network },
      helpdesk: { quirks: busy, messagesPerMinute: 10_000, ...options.helpdesk },
      environment: { SERVICE_DRAIN_RATE: '0', SERVICE_SHUTDOWN_GRACE: '1s', ...options.environment },
    })
    const bot = botOf(world)
    const customers: Customer[] = []
    for (let n = 0; n < count; n++) {
      const phone = `55118800${1000 + n}`
      customers.push({ person: world.network.person({ phone }), conversation: await openChat(bot, phone) })
    }
    const { location } = world.place
    const database = await openTestConnection(location)
    const stage = new BotStage(world, customers, database)
    await world.allReady()
    await stage.listen()
    // A message that was written before the first callback of an inbox is never sent, also after Retry.
    for (const [n, customer] of customers.entries()) {
      await stage.write(customer, `c${n} hello`)
      await customer.person.messages.waitFor('the first message', () => true)
    }
    await world.helpdesk.settled()
    return stage
  }

  /** The helpdesk calls the process that runs now. */
  async listen(): Promise<void> {
    const channel = { webhook_url: `${await this.world.service.ready()}/api/instances/n0/webhook` }
    const { status, text } = await this.#bot.patch('/inboxes/1', { channel })
    assert.equal(status, 200, text)
  }

  async restart(signal: NodeJS.Signals): Promise<void> {
    await this.world.restart(signal)
    await this.listen()
  }

  async write({ conversation }: Customer, content: string): Promise<void> {
    const body = { content, message_type: 'outgoing' }
    const { status, text } = await this.#bot.post(`/conversations/${conversation}/messages`, body)
    assert.equal(status, 200, text)
  }

  /** An agent presses Retry on these messages. */
  async retry(messages: readonly SeenMessage[]): Promise<void> {
    for (const { id, conversationId } of messages) {
      this.#retried.add(id)
      await this.#bot.post(`/conversations/${conversationId}/messages/${id}/retry`)
    }
  }

  /** What the helpdesk shows as failed. */
  get failed(): SeenMessage[] {
    return this.world.helpdesk.messages().filter(({ status }) => status === 'failed')
  }

  get written(): SeenMessage[] {
    return this.world.helpdesk.messages().filter(({ messageType }) => messageType === 'outgoing')
  }

  get retries(): number {
    return this.#retried.size
  }

  /** Messages whose callbacks came too late for their turn are excused, and counted by `late`. */
  mistakes(late = new LateCallbacks(this.world.helpdesk.deliveries)): Mistakes {
    const chats = this.customers.map(({ person, conversation }) => ({
      written: this.written
        .filter(({ conversationId }) => conversationId === conversation)
        .map(({ id, content, status }) => ({
          id: content ?? '',
          isFailed: status === 'failed',
          isRetried: this.#retried.has(id),
        })),
      received: person.messages.entries.filter(({ own }) => !own).map(({ message }) => textOfMessage(message) ?? ''),
    }))
    return mistakesIn(chats, (message, overtakenBy) => late.excuses(message, overtakenBy))
  }

  /** Nothing is under way any more. If a message is shown wrongly, no look is planned that could mend it. */
  async settled(): Promise<void> {
    const { helpdesk } = this.world
    let seen: object = {}
    const isQuiet = async () => {
      await helpdesk.settled()
      const { underWay, planned } = await this.#outbox()
      seen = { underWay, planned, ...this.mistakes() }
      const { falselyFailed, falselySent } = this.mistakes()
      return underWay === 0 && (planned === 0 || falselyFailed.length + falselySent.length === 0)
    }
    await waitUntil('the world is settled', isQuiet, { timeoutMs: settleMs, instead: () => seen })
  }

  /** Agents press Retry until nothing is shown as failed. */
  async retriedAll(): Promise<void> {
    await this.settled()
    while (this.failed.length > 0) {
      await this.retry(this.failed)
      await this.settled()
    }
  }

  /** How many rows wait for something, and how many looks are planned for later. */
  async #outbox(): Promise<{ underWay: number; planned: number }> {
    const query = this.#database.query.selectFrom('outbox').select(['status', 'shown', 'look_at'])
    const rows = await this.#database.read(query)
    const now = Date.now()
    const isUnderWay = ({ status, shown, look_at: lookAt }: (typeof rows)[number]) =>
      status === 'pending' || status === 'sending' || shown === 'unsure' || (lookAt !== null && lookAt <= now)
    return {
      underWay: rows.filter(isUnderWay).length,
      planned: rows.filter(({ look_at: lookAt }) => lookAt !== null).length,
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#database[Symbol.asyncDispose]()
    await this.world[Symbol.asyncDispose]()
  }
}

/** Faults of the helpdesk spare the bot. */
function botOf({ helpdesk }: ProcessWorld): DeskClient {
  return new DeskClient(helpdesk, helpdesk.world.addAgent({ name: 'Bot', role: 'administrator' }).token)
}
