// The Chatwoot and the phone of a person who follows a document. Both are simulated; the commands do not know that.

import { calm } from '../../../../sim/helpdesk/settings.ts'
import type { SimPhone } from '../../../../sim/network/accounts/sim-phone.ts'
import { textOfMessage } from '../../../../sim/network/people/received-message.ts'
import { SimWorld } from '../../../../sim/sim-world.ts'
import type { RunningCommand } from '../../../harness/document-shell.ts'
import { requestFrom } from '../../../harness/http-request.ts'
import { fillChat } from '../../../harness/other-bridges.ts'
import { networkEnvironment } from '../../../harness/service.ts'
import { DeskClient } from '../../../sim-helpdesk/harness/desk-client.ts'

const bob = '5511888880001'

export class SimulatedSides {
  readonly #world: SimWorld
  readonly #phone: SimPhone

  private constructor(world: SimWorld) {
    this.#world = world
    this.#phone = world.network.account({ phone: '5511999990001', name: 'Shop' })
  }

  static async start(): Promise<SimulatedSides> {
    return new SimulatedSides(await SimWorld.start({ helpdesk: { quirks: calm } }))
  }

  /** Leads the service to the simulated WhatsApp. */
  get environment(): Record<string, string> {
    return networkEnvironment(this.#world.network)
  }

  /** What a person writes in the place of the examples of a document. */
  get replace(): Record<string, string> {
    const { url, api_token } = this.#world.helpdesk.facts
    return { 'https://chatwoot.example.com': url, 'token-of-an-administrator': api_token }
  }

  /** Another bridge has filled the helpdesk inbox that exists. Answers the conversation of Bob. */
  fillInbox(): number {
    const messages = [{ id: '3EB0OLD1', text: 'hello', at: Date.now() - 86_400_000 }]
    const { conversations } = fillChat(this.#world.helpdesk, 'evolution', { phone: bob, conversations: [{ messages }] })
    return conversations[0] ?? 0
  }

  get inboxId(): number {
    return this.#world.helpdesk.facts.inbox_id
  }

  /** The phone scans the code that a command shows. */
  async link(command: RunningCommand, url: string, token: string): Promise<void> {
    let code = ''
    await command.until('a QR code is shown', async () => {
      const { status, text } = await requestFrom(url, 'GET', '/api/instances/shop/qr?format=text', { token })
      code = text
      return status === 200
    })
    await this.#phone.scan(code)
  }

  /** A customer writes, an agent reads and answers, and the customer gets the answer. Resolves with the conversation. */
  async assertTwoWay(): Promise<number> {
    const { network, helpdesk } = this.#world
    const customer = network.person({ phone: bob, pushName: 'Bob' })
    customer.text(this.#phone, 'Are you open?')
    const question = await helpdesk.waitForMessage(undefined, ({ content }) => content === 'Are you open?', 60_000)
    const agent = new DeskClient(helpdesk, helpdesk.world.addAgent({ name: 'Ana', role: 'administrator' }).token)
    const answer = { content: 'Until six.', message_type: 'outgoing' }
    await agent.post(`/conversations/${question.conversationId}/messages`, answer)
    await customer.messages.waitFor('the answer', ({ message }) => textOfMessage(message) === 'Until six.', 60_000)
    return question.conversationId
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#world[Symbol.asyncDispose]()
  }
}
