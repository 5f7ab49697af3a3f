// A world in which the history of Bob's chat is posted at the helpdesk as an import does it: into a pending conversation, with a
// private note first, with source ids, and with marks in the database. A bot of the helpdesk inbox answers everything.

import assert from 'node:assert/strict'
import type { SeenConversation, SeenMessage } from '../../sim/helpdesk/snapshots.ts'
import type { Hold } from '../../src/core/nodes/hold.ts'
import { importMark } from '../../src/downstream/import-mark.ts'
import { ImportMarks } from '../../src/storage/stores/history/import-marks.ts'
import { DeskClient } from '../sim-helpdesk/harness/desk-client.ts'
import { holdOf } from './holds.ts'
import { AgentWorld } from './agent-world.ts'
import { LeapingClock } from './leaping-clock.ts'
import type { WorldOptions } from './world.ts'

/** The chat whose history is imported, and the conversation of its new messages. */
type Chat = { destination: string; instance: string; chat: string; live: SeenConversation }

export class ImportStage {
  readonly world: AgentWorld
  readonly clock: LeapingClock
  readonly chat: Chat
  /** The conversation that gets the history. */
  conversation = 0
  readonly #target: 'history' | 'chat'
  readonly #bot: DeskClient
  #count = 0

  private constructor(world: AgentWorld, clock: LeapingClock, chat: Chat, target: 'history' | 'chat') {
    this.world = world
    this.clock = clock
    this.chat = chat
    this.#target = target
    this.#bot = new DeskClient(world.helpdesk, world.helpdesk.world.addBot('Robot').token)
  }

  /** Bob has written before, and an import of his chat has begun. `inbox`: settings of the helpdesk inbox. */
  static async open({
    target = 'history',
    inbox = {},
    ...options
  }: WorldOptions & { target?: 'history' | 'chat'; inbox?: object } = {}): Promise<ImportStage> {
    const clock = new LeapingClock()
    const world = await AgentWorld.open({ ...options, clock, helpdesk: { ...options.helpdesk, clock } })
    try {
      const { conversationId } = await world.arrived(world.bob.text(world.phone, 'hello'))
      await world.drained()
      const stage = new ImportStage(world, clock, await chatIn(world, conversationId), target)
      await stage.change('PATCH', '/inboxes/1', inbox)
      await stage.#begin()
      return stage
    } catch (error) {
      await world[Symbol.asyncDispose]()
      throw error
    }
  }

  /** Bob wrote this, a while ago. */
  async heard(content: string): Promise<void> {
    const attributes = { external_created_at: Math.floor(this.clock.now() / 1000) - 30 * 86_400 }
    const source_id = `3EB0PAST${++this.#count}`
    await this.#post({ content, message_type: 'incoming', source_id, content_attributes: attributes })
  }

  /** The owner of the account wrote this, a while ago. */
  async wrote(content: string): Promise<void> {
    const source_id = `3EB0PAST${++this.#count}`
    await this.#post({ content, message_type: 'outgoing', source_id, content_attributes: { external_echo: true } })
  }

  /** Some messages of both sides. */
  async import(): Promise<void> {
    await this.note()
    await this.heard('do you have it in red?')
    await this.wrote('yes, we do')
    await this.heard('then I take it')
  }

  async note(): Promise<void> {
    await this.#post({ content: 'These messages are imported.', message_type: 'outgoing', private: true })
  }

  /** The import ends: nothing is unread, and the conversation is resolved. */
  async finish(): Promise<void> {
    await this.change('POST', `/conversations/${this.conversation}/update_last_seen`)
    await this.change('POST', `/conversations/${this.conversation}/toggle_status`, { status: 'resolved' })
    const { destination } = this.chat
    const { marks, hold } = await this.#marks()
    await marks.end(hold, { destination, conversationId: this.conversation }, this.clock.now())
  }

  /** The bot answers; resolves with the message as soon as the helpdesk shows what became of it. */
  async botAnswers(content: string): Promise<SeenMessage> {
    const body = { content, message_type: 'outgoing' }
    const { status, body: message, text } = await this.#bot.post(`/conversations/${this.conversation}/messages`, body)
    assert.equal(status, 200, text)
    await this.world.helpdesk.settled()
    return this.world.shown(message.id, () => true)
  }

  /** The messages of the conversation that are for the customer and were not imported. */
  get answers(): SeenMessage[] {
    const all = this.world.helpdesk.messages(this.conversation)
    return all.filter((each) => each.messageType !== 'incoming' && each.messageType !== 'activity' && isFresh(each))
  }

  /** Each answer is shown as failed with this reason, and Bob got nothing but what an agent writes to him now. */
  async assertSilent(reason: RegExp, sentBefore: readonly string[] = []): Promise<void> {
    const { world } = this
    for (const { id } of this.answers) {
      const isExplained = ({ status, contentAttributes }: SeenMessage) =>
        status === 'failed' && reason.test(String(contentAttributes['external_error']))
      await world.shown(id, isExplained)
    }
    await world.write('the end', {}, this.chat.live.id)
    await world.received('the end')
    assert.deepEqual(world.texts(), [...sentBefore, 'the end'])
  }

  seen(id = this.conversation): SeenConversation {
    const found = this.world.helpdesk.see.conversations().find((each) => each.id === id)
    assert.ok(found)
    return found
  }

  async change(method: string, path: string, body?: object): Promise<void> {
    const { status, text } = await this.world.desk.send(method, path, body)
    assert.equal(status, 200, text)
  }

  /** After the minute in which nothing is sent. */
  async laterThanAMinute(): Promise<void> {
    await this.clock.advance(61_000)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.world[Symbol.asyncDispose]()
  }

  async #begin(): Promise<void> {
    const { destination, instance, chat, live } = this.chat
    const { contactId: contact_id, sourceId: source_id } = live
    const attributes = {
      status: 'pending',
      additional_attributes: importMark({ createdFor: this.#target, mark: null }),
    }
    const created = { inbox_id: 1, contact_id, source_id, ...attributes }
    const { status, body, text } = await this.world.desk.post('/conversations', created)
    assert.equal(status, 200, text)
    this.conversation = body.id
    const { marks, hold } = await this.#marks()
    const place = { destination, conversationId: this.conversation, instance, chat }
    await marks.begin(hold, place, { isHistory: this.#target === 'history', now: this.clock.now() })
  }

  /** With the hold of the service that runs now. */
  async #marks(): Promise<{ marks: ImportMarks; hold: Hold }> {
    const { database } = this.world.service
    const { instance } = this.chat
    const marks = new ImportMarks(database)
    const { query } = database
    if (database.engine === 'sqlite') {
      const [lease] = await database.read(query.selectFrom('lease').select('epoch'))
      return { marks, hold: holdOf(instance, lease?.epoch) }
    }
    const assigned = query.selectFrom('assignments').select(['node', 'epoch']).where('instance', '=', instance)
    const [assignment] = await database.read(assigned)
    return { marks, hold: { instance, node: assignment?.node ?? '', epoch: assignment?.epoch ?? 0 } }
  }

  async #post(message: object): Promise<void> {
    await this.change('POST', `/conversations/${this.conversation}/messages`, message)
  }
}

function isFresh({ private: isPrivate, sourceId }: SeenMessage): boolean {
  return !isPrivate && sourceId === null
}

async function chatIn({ service, helpdesk }: AgentWorld, conversationId: number): Promise<Chat> {
  const { database } = service
  const query = database.query.selectFrom('conversation_chats').select(['destination', 'instance', 'chat'])
  const [row] = await database.read(query.where('conversation_id', '=', conversationId))
  const live = helpdesk.see.conversations().find(({ id }) => id === conversationId)
  assert.ok(row && live)
  return { ...row, live }
}
