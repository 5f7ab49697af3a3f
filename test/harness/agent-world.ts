// A world with an agent who writes to Bob at the helpdesk, and with what Bob receives of it.

import assert from 'node:assert/strict'
import type { SeenMessage } from '../../sim/helpdesk/snapshots.ts'
import { textOfMessage } from '../../sim/network/people/received-message.ts'
import type { ReceivedMessage } from '../../sim/network/people/received-message.ts'
import type { SimPerson } from '../../sim/network/people/sim-person.ts'
import { DeskClient, openChat } from '../sim-helpdesk/harness/desk-client.ts'
import type { Answer } from './http-request.ts'
import { signatureOf } from './signed-callback.ts'
import { World } from './world.ts'
import type { Running, WorldOptions } from './world.ts'

type Callback = Record<string, unknown>

export class AgentWorld extends World {
  readonly bob: SimPerson
  readonly agent: DeskClient
  /** The access of the bridge to the helpdesk. */
  readonly desk: DeskClient
  /** The conversation with Bob. */
  readonly conversation: number

  private constructor(running: Running, desk: DeskClient, conversation: number) {
    super(running)
    const { network, helpdesk } = running
    this.bob = network.person({ phone: '5511888880001', lid: '200000000000001', pushName: 'Bob' })
    this.agent = new DeskClient(helpdesk, helpdesk.world.addAgent({ name: 'Ana', role: 'administrator' }).token)
    this.desk = desk
    this.conversation = conversation
  }

  /** All accounts are ready, and the helpdesk calls the service. */
  static override async open(options: WorldOptions = {}): Promise<AgentWorld> {
    const environment = { SERVICE_DRAIN_RATE: '50', ...options.environment }
    const helpdesk = { storage: 'disk' as const, ...options.helpdesk }
    const running = await World.start({ ...options, environment, helpdesk })
    const desk = new DeskClient(running.helpdesk)
    const world = new AgentWorld(running, desk, await openChat(desk, '5511888880001'))
    return world.begin(async () => {
      await world.allReady()
      await world.listen()
    })
  }

  /** The helpdesk calls the service where it listens now. */
  async listen(instance = 'n0'): Promise<void> {
    const channel = { webhook_url: `${this.service.url}/api/instances/${instance}/webhook` }
    const { status, text } = await this.desk.patch('/inboxes/1', { channel })
    assert.equal(status, 200, text)
  }

  override async restart(environment: Record<string, string> = {}): Promise<void> {
    await super.restart(environment)
    await this.listen()
  }

  /** Ends the connection of the first account and refuses every login. */
  async disconnect(): Promise<void> {
    this.network.fault({ kind: 'login_failure', code: 503, times: Infinity })
    await this.network.strike({ kind: 'drop', account: this.phone.user.phone })
    await this.reaches('n0', (state) => state !== 'ready')
  }

  async reconnect(): Promise<void> {
    this.network.faults.clear()
    await this.command('/n0/restart')
    await this.reaches('n0', 'ready')
  }

  /** The agent writes in Bob's conversation; the id of the message. */
  async write(content: string, extra: object = {}, conversation = this.conversation): Promise<number> {
    const body = { content, message_type: 'outgoing', ...extra }
    const { status, body: message, text } = await this.agent.post(`/conversations/${conversation}/messages`, body)
    assert.equal(status, 200, text)
    return message.id
  }

  /** A callback for a message to Bob, with the fields of the interface and what the test adds. */
  callback(id: number, content: string, more: Callback = {}): Callback {
    return {
      event: 'message_created',
      id,
      content,
      message_type: 'outgoing',
      private: false,
      account: { id: 1 },
      inbox: { id: 1 },
      conversation: {
        id: this.conversation,
        inbox_id: 1,
        meta: { sender: { identifier: '5511888880001@s.whatsapp.net', phone_number: '+5511888880001' } },
      },
      ...more,
    }
  }

  /** Posts a signed callback, as a helpdesk that knows our own header does. */
  async post(body: unknown, { instance = 'n0', secret = this.helpdesk.facts.webhook_secret } = {}): Promise<Answer> {
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    const headers = signatureOf(text, secret)
    return this.service.request('POST', `/api/instances/${instance}/webhook`, { token: null, body: text, headers })
  }

  /** The message with this text that a person received. */
  received(text: string, person = this.bob, timeoutMs = 180_000): Promise<ReceivedMessage> {
    return person.messages.waitFor(`"${text}"`, ({ message }) => textOfMessage(message) === text, timeoutMs)
  }

  texts(person = this.bob): (string | undefined)[] {
    return person.messages.entries.filter(({ own }) => !own).map(({ message }) => textOfMessage(message))
  }

  /** A message at the helpdesk, once it matches. */
  shown(id: number, matches: (message: SeenMessage) => boolean): Promise<SeenMessage> {
    return this.helpdesk.waitForMessage(undefined, (each) => each.id === id && matches(each), 60_000)
  }

  async outbox(name = 'n0'): Promise<Record<string, unknown>> {
    return (await this.service.get(`/api/instances/${name}/outbox`)).body as Record<string, unknown>
  }

  protected override beforeLook(): Promise<void> {
    return this.passTime()
  }
}
