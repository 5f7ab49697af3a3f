// A simulated network, a simulated helpdesk with an agent, and the service between them: what agents write is sent.

import '../sim/harness/quiet.ts'
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { calm } from '../../sim/helpdesk/settings.ts'
import type { SimHelpdeskOptions } from '../../sim/helpdesk/settings.ts'
import { SimHelpdesk } from '../../sim/helpdesk/sim-helpdesk.ts'
import type { SeenMessage } from '../../sim/helpdesk/snapshots.ts'
import type { SimPhone } from '../../sim/network/accounts/sim-phone.ts'
import { textOfMessage } from '../../sim/network/people/received-message.ts'
import type { ReceivedMessage } from '../../sim/network/people/received-message.ts'
import type { SimPerson } from '../../sim/network/people/sim-person.ts'
import { SimNetwork } from '../../sim/network/sim-network.ts'
import { DeskClient, openChat } from '../sim-helpdesk/harness/desk-client.ts'
import { newLocation } from './databases.ts'
import { seedLinked } from './linked-seed.ts'
import { ManualClock } from './manual-clock.ts'
import { apiToken, Service } from './service.ts'
import type { Answer, ServiceOptions } from './service.ts'
import { waitUntil } from './wait-until.ts'

export type OutboundOptions = Pick<ServiceOptions, 'engine' | 'environment' | 'clock' | 'onSendStep'> & {
  accounts?: number
  helpdesk?: SimHelpdeskOptions
}

type Callback = Record<string, unknown>

export class OutboundStage {
  readonly network: SimNetwork
  readonly helpdesk: SimHelpdesk
  readonly phones: SimPhone[]
  readonly bob: SimPerson
  /** The agent at the helpdesk, and the bridge's own access to it. */
  readonly agent: DeskClient
  readonly desk: DeskClient
  /** The conversation with Bob. */
  readonly conversation: number
  service: Service
  readonly #options: ServiceOptions
  readonly #owned: AsyncDisposableStack

  private constructor(parts: Parts, rest: Rest) {
    this.network = parts.network
    this.helpdesk = parts.helpdesk
    this.phones = parts.phones
    this.bob = parts.bob
    this.agent = parts.agent
    this.desk = parts.desk
    this.conversation = parts.conversation
    this.service = parts.service
    this.#options = rest.options
    this.#owned = rest.owned
  }

  static async open({ accounts = 1, helpdesk: quirks, ...options }: OutboundOptions = {}): Promise<OutboundStage> {
    await using stack = new AsyncDisposableStack()
    const network = stack.use(await SimNetwork.start())
    const helpdesk = stack.use(await SimHelpdesk.start({ quirks: calm, storage: 'disk', ...quirks }))
    const place = stack.use(await newLocation(options.engine ?? 'sqlite'))
    const bob = network.person({ phone: '5511888880001', lid: '200000000000001', pushName: 'Bob' })
    const environment = { ...(await surroundings(network, helpdesk, stack)), ...options.environment }
    let phones: SimPhone[] = []
    const lasting = { ...options, environment, network, place }
    const seed = async (database: Service['database']) => {
      phones = await seedLinked(database, network, accounts)
    }
    const service = await Service.start({ ...lasting, seed })
    const desk = new DeskClient(helpdesk)
    const agent = new DeskClient(helpdesk, helpdesk.world.addAgent({ name: 'Ana', role: 'administrator' }).token)
    const conversation = await openChat(desk, '5511888880001')
    const parts = { network, helpdesk, phones, bob, agent, desk, conversation, service }
    const stage = new OutboundStage(parts, { options: lasting, owned: stack.move() })
    try {
      await stage.allReady()
      await stage.listen()
      return stage
    } catch (error) {
      await stage[Symbol.asyncDispose]()
      throw error
    }
  }

  get phone(): SimPhone {
    const [phone] = this.phones
    assert.ok(phone)
    return phone
  }

  /** The helpdesk calls the service where it listens now. */
  async listen(instance = 'n0'): Promise<void> {
    const channel = { webhook_url: `${this.service.app.url}/api/instances/${instance}/webhook` }
    const { status, text } = await this.desk.patch('/inboxes/1', { channel })
    assert.equal(status, 200, text)
  }

  async allReady(): Promise<void> {
    await waitUntil('all accounts are ready', async () => {
      await this.passTime()
      // Nothing is listed while the machine is overloaded.
      const { status, body } = await this.service.get('/api/instances')
      return status === 200 && (body as { state: string }[]).every(({ state }) => state === 'ready')
    })
  }

  /** Ends the connection of the first account and keeps it away. */
  async disconnect(): Promise<void> {
    this.network.fault({ kind: 'login_failure', code: 503, times: Infinity })
    await this.network.strike({ kind: 'drop', account: this.phone.user.phone })
    await this.reaches('n0', (state) => state !== 'ready')
  }

  async reconnect(): Promise<void> {
    this.network.faults.clear()
    await this.service.request('POST', '/api/instances/n0/restart')
    await this.reaches('n0', (state) => state === 'ready')
  }

  async reaches(name: string, holds: (state: string) => boolean): Promise<void> {
    const state = async () => ((await this.service.get(`/api/instances/${name}/state`)).body as { state: string }).state
    let seen = ''
    const look = async () => {
      await this.passTime()
      return holds((seen = await state()))
    }
    await waitUntil(`${name} changes`, look, { instead: () => seen })
  }

  /** A little of it, where a test decides on the time. */
  async passTime(ms = 100): Promise<void> {
    const { clock } = this.#options
    if (clock instanceof ManualClock) await clock.advance(ms)
  }

  /** Ends the service inside the test; another process may take its place. */
  async stop(): Promise<void> {
    await this.service[Symbol.asyncDispose]()
  }

  get environment(): Record<string, string> {
    return { SERVICE_API_TOKEN: apiToken, HOST: '127.0.0.1', ...this.#options.environment }
  }

  /** The next process may have other settings. */
  async restart(environment: Record<string, string> = {}): Promise<void> {
    await this.stop()
    const { environment: settings } = this.#options
    this.service = await Service.start({ ...this.#options, environment: { ...settings, ...environment } })
    await this.allReady()
    await this.listen()
  }

  /** The agent writes in Bob's conversation; the id of the message. */
  async write(content: string, extra: object = {}, conversation = this.conversation): Promise<number> {
    const body = { content, message_type: 'outgoing', ...extra }
    const { status, body: message, text } = await this.agent.post(`/conversations/${conversation}/messages`, body)
    assert.equal(status, 200, text)
    return message.id
  }

  /** What a callback for a message to Bob looks like; fields of the interface only, unless more is given. */
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

  /** A signed callback, as a helpdesk sends it that knows our own header. */
  async post(body: unknown, { instance = 'n0', secret = this.helpdesk.facts.webhook_secret } = {}): Promise<Answer> {
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    const signature = `sha256=${createHmac('sha256', secret).update(text).digest('hex')}`
    return this.service.request('POST', `/api/instances/${instance}/webhook`, {
      token: null,
      body: text,
      headers: { 'x-service-signature': signature },
    })
  }

  /** The message with this text that a person received. */
  received(text: string, person = this.bob, timeoutMs = 20_000): Promise<ReceivedMessage> {
    return person.messages.waitFor(`"${text}"`, ({ message }) => textOfMessage(message) === text, timeoutMs)
  }

  texts(person = this.bob): (string | undefined)[] {
    return person.messages.entries.filter(({ own }) => !own).map(({ message }) => textOfMessage(message))
  }

  /** A message at the helpdesk, once it is what is awaited. */
  shown(id: number, matches: (message: SeenMessage) => boolean): Promise<SeenMessage> {
    return this.helpdesk.waitForMessage(undefined, (each) => each.id === id && matches(each), 20_000)
  }

  async metric(line: string): Promise<number> {
    const { text } = await this.service.get('/metrics')
    const found = text.split('\n').find((each) => each.startsWith(`${line} `))
    return Number(found?.slice(line.length + 1) ?? 0)
  }

  async outbox(name = 'n0'): Promise<Record<string, unknown>> {
    return (await this.service.get(`/api/instances/${name}/outbox`)).body as Record<string, unknown>
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.service[Symbol.asyncDispose]()
    await this.#owned.disposeAsync()
  }
}

type Parts = Pick<
  OutboundStage,
  'network' | 'helpdesk' | 'phones' | 'bob' | 'agent' | 'desk' | 'conversation' | 'service'
>
type Rest = { options: ServiceOptions; owned: AsyncDisposableStack }

async function surroundings(
  network: SimNetwork,
  { facts }: SimHelpdesk,
  stack: AsyncDisposableStack,
): Promise<Record<string, string>> {
  const directory = await mkdtemp(join(tmpdir(), 'causeway-ca-'))
  stack.defer(() => rm(directory, { recursive: true, force: true }))
  const path = join(directory, 'ca.pem')
  await writeFile(path, network.authority.pem)
  return {
    SERVICE_NETWORK_CA: path,
    SERVICE_DRAIN_RATE: '50',
    WEBHOOK_HMAC_SECRET: facts.webhook_secret,
    DOWNSTREAM_BASE_URL: facts.url,
    DOWNSTREAM_API_TOKEN: facts.api_token,
    DOWNSTREAM_ACCOUNT_ID: String(facts.account_id),
    DOWNSTREAM_INBOX_ID: String(facts.inbox_id),
  }
}
