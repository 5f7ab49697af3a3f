// A bot of the helpdesk inbox that answers every message of a customer, as soon as the helpdesk calls it.

import { text } from 'node:stream/consumers'
import type { SimHelpdesk } from '../../../../sim/helpdesk/sim-helpdesk.ts'
import type { SeenMessage } from '../../../../sim/helpdesk/snapshots.ts'
import { LoopbackServer } from '../../../harness/loopback-server.ts'
import { waitUntil } from '../../../harness/wait-until.ts'
import { DeskClient } from '../../../sim-helpdesk/harness/desk-client.ts'

type Called = { event: string; id: number; message_type: string; conversation: { id: number } }

export class AnsweringBot {
  readonly #helpdesk: SimHelpdesk
  /** The ids of the answers, by the id of the message that each one answers. */
  readonly #answers = new Map<number, number>()
  #server: LoopbackServer | undefined
  #desk: DeskClient | undefined

  private constructor(helpdesk: SimHelpdesk) {
    this.#helpdesk = helpdesk
  }

  static async connect(helpdesk: SimHelpdesk): Promise<AnsweringBot> {
    const bot = new AnsweringBot(helpdesk)
    bot.#server = await LoopbackServer.start((request, response) => {
      void text(request).then(async (body) => {
        response.end()
        await bot.#hear(JSON.parse(body) as Called)
      })
    })
    const { token } = helpdesk.world.connectBot('Robot', bot.#server.url())
    bot.#desk = new DeskClient(helpdesk, token)
    return bot
  }

  /** Waits until every message of a customer is answered. Returns the answers as the helpdesk shows them. */
  async answeredAll(): Promise<SeenMessage[]> {
    const asked = () => this.#helpdesk.messages().filter(({ messageType }) => messageType === 'incoming')
    const left = () => asked().filter(({ id }) => !this.#answers.has(id)).length
    await waitUntil('the bot has answered all messages', () => left() === 0, { instead: left })
    await this.#helpdesk.settled()
    return this.answers
  }

  get answers(): SeenMessage[] {
    const ids = new Set(this.#answers.values())
    return this.#helpdesk.messages().filter(({ id }) => ids.has(id))
  }

  async #hear({ event, id, message_type, conversation }: Called): Promise<void> {
    if (event !== 'message_created' || message_type !== 'incoming' || !this.#desk) return
    const answer = { content: `an answer to ${id}`, message_type: 'outgoing' }
    const { body } = await this.#desk.post(`/conversations/${conversation.id}/messages`, answer)
    this.#answers.set(id, body.id)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server?.[Symbol.asyncDispose]()
  }
}
