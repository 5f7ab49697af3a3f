// The outbound bridge with a real database, a clock that a test moves, and a scripted helpdesk and network.

import { phoneJid } from '../../../../src/core/address.ts'
import type { DatabaseLocation } from '../../../../src/core/database-location.ts'
import type { MessageEvent, NetworkEvent } from '../../../../src/core/message.ts'
import { toWebhookReply } from '../../../../src/http/webhook/webhook-reply.ts'
import type { SendStep } from '../../../../src/bridge/outbound/send/row-sender.ts'
import { createRowIds } from '../../../../src/lib/row-ids.ts'
import type { Database, EngineName } from '../../../../src/storage/database.ts'
import { toNewColumns } from '../../../../src/storage/stores/accounts/instance-rows.ts'
import type { InstanceRow } from '../../../../src/storage/stores/accounts/instance-rows.ts'
import { LeaseStore } from '../../../../src/storage/stores/lease-store.ts'
import { JournalStore } from '../../../../src/storage/stores/messages/journal-store.ts'
import { newDatabase } from '../../../harness/databases.ts'
import { RecordedLog } from '../../../harness/logs.ts'
import { ManualClock } from '../../../harness/manual-clock.ts'
import { waitUntil } from '../../../harness/wait-until.ts'
import { passTime, settle } from '../../harness/pass-time.ts'
import { ScriptedHelpdesk } from '../../harness/scripted-helpdesk.ts'
import type { Posted } from '../../harness/scripted-helpdesk.ts'
import { message } from '../../inbound/harness/bridge-bed.ts'
import { AgentDesk } from './agent-desk.ts'
import type { AgentMessage, Answer, Callback, Extra } from './agent-desk.ts'
import { BedProcess } from './bed-process.ts'
import { openConversation, refusalOf, settings } from './desk-facts.ts'
import { ScriptedAccounts } from './scripted-accounts.ts'
import { ScriptedNetwork } from './scripted-network.ts'
import type { Customer, SentMessage } from './scripted-network.ts'
import { textOf } from './views.ts'

type Options = {
  accounts?: number
  engine?: EngineName
  environment?: Record<string, string>
  onSendStep?: (step: SendStep) => Promise<void>
}

export const ana = { id: 3, name: 'Ana', type: 'user' }
type World = Parameters<typeof BedProcess.start>[0] & { location: DatabaseLocation; network: ScriptedNetwork }
type Heard = Partial<MessageEvent> & { from?: Customer; instance?: string }
type UntilOptions = { stepMs?: number; instead?: () => unknown }

export class OutboundBed {
  readonly clock: ManualClock
  readonly network: ScriptedNetwork
  readonly accounts: ScriptedAccounts
  readonly helpdesk: ScriptedHelpdesk
  readonly desk: AgentDesk
  readonly logs: RecordedLog
  readonly database: Database
  readonly location: DatabaseLocation
  readonly bob: Customer
  /** The conversation with Bob. */
  readonly conversation: number
  /** What runs now; another one after a restart. */
  process: BedProcess
  readonly #world: World
  readonly #owned: AsyncDisposableStack
  readonly #newRowId: () => string
  #isRunning = true

  private constructor(
    world: World,
    process: BedProcess,
    bob: Customer,
    conversation: number,
    owned: AsyncDisposableStack,
  ) {
    this.clock = world.clock
    this.network = world.network
    this.accounts = world.accounts
    this.helpdesk = world.helpdesk
    this.logs = world.logs
    this.database = world.database
    this.location = world.location
    this.desk = new AgentDesk({ ...world, post: (callback, headers) => this.post(callback, { headers }) })
    this.process = process
    this.bob = bob
    this.conversation = conversation
    this.#world = world
    this.#owned = owned
    this.#newRowId = createRowIds(world.clock)
  }

  static async open({
    accounts: count = 1,
    engine = 'sqlite',
    environment,
    onSendStep,
  }: Options = {}): Promise<OutboundBed> {
    await using stack = new AsyncDisposableStack()
    const { database, location } = stack.use(await newDatabase(engine))
    await new LeaseStore(database).acquire('me', 600_000)
    const clock = new ManualClock()
    const network = new ScriptedNetwork(clock)
    const accounts = new ScriptedAccounts(network)
    const rows = Array.from({ length: count }, (_, index) => accounts.add(`n${index}`, numberOf(index)))
    await database.write(database.query.insertInto('instances').values(rows.map((row) => toNewColumns(row))))
    const world = {
      database,
      location,
      clock,
      network,
      accounts,
      helpdesk: new ScriptedHelpdesk(),
      logs: new RecordedLog(),
      environment: { ...settings, ...environment },
      onSendStep: onSendStep ?? (() => Promise.resolve()),
    }
    const bob = network.person({ phone: '5511888880001', lid: '200000000000001', name: 'Bob' })
    const conversation = await openConversation(world.helpdesk, bob)
    const bed = new OutboundBed(world, await BedProcess.start(world), bob, conversation, stack.move())
    for (const name of accounts.names) bed.connect(name)
    return bed
  }

  connect(name = 'n0'): void {
    this.change(name, { state: 'ready' })
  }

  disconnect(name = 'n0'): void {
    this.change(name, { state: 'disconnected' })
  }

  change(name: string, changes: Partial<InstanceRow>): void {
    this.accounts.get(name).change(changes)
    if (changes.state) this.process.outbound.connectionChanged(name)
  }

  /** Deletes the instance, as the registry does. */
  async remove(name = 'n0'): Promise<void> {
    this.accounts.remove(name)
    const { database } = this.#world
    await database.write(database.query.deleteFrom('instances').where('name', '=', name))
    await this.process.outbound.forget(name)
  }

  /** Callbacks reach no process until start() or restart(). */
  async stop(): Promise<void> {
    this.#isRunning = false
    await this.process[Symbol.asyncDispose]()
  }

  /** Another process takes up what is stored; its accounts are connected. */
  async start(environment: Record<string, string> = {}): Promise<void> {
    this.#isRunning = true
    const { environment: known } = this.#world
    this.process = await BedProcess.start({ ...this.#world, environment: { ...known, ...environment } })
    for (const name of this.accounts.names) this.connect(name)
  }

  async restart(environment: Record<string, string> = {}): Promise<void> {
    await this.stop()
    await this.start(environment)
  }

  /** Another process on the same database, which holds these accounts from now on. The caller ends it. */
  async startBeside(held: readonly string[] = []): Promise<BedProcess> {
    for (const name of held) this.process.give(name)
    const beside = await BedProcess.start({ ...this.#world, held })
    beside.view.hasPeers = true
    this.process.view.hasPeers = true
    return beside
  }

  /** What a callback for a message to Bob looks like. */
  callback(id: number, content: string, more: Callback = {}): Callback {
    const sender = { identifier: phoneJid(this.bob.phone ?? ''), phone_number: `+${this.bob.phone ?? ''}` }
    const place = { account: { id: 1 }, inbox: { id: 1 } }
    const conversation = { id: this.conversation, inbox_id: 1, meta: { sender } }
    const rest = { event: 'message_created', message_type: 'outgoing', private: false }
    return { ...rest, id, content, ...place, conversation, ...more }
  }

  /** The answer to a callback, as the helpdesk gets it. With `isCut` the answer does not leave the process. */
  async post(callback: unknown, { instance = 'n0', headers = {}, isCut = false } = {}): Promise<Answer> {
    if (!this.#isRunning) return { status: 502, body: 'the service is away' }
    const raw = Buffer.from(typeof callback === 'string' ? callback : JSON.stringify(callback))
    try {
      const { webhook, answered } = this.process.outbound
      const parse = (bytes: Buffer) => JSON.parse(bytes.toString()) as unknown
      const answer = await webhook.receive(instance, { raw, headers, waitedMs: 0 }, parse)
      if (!isCut) answered(answer)
      return toWebhookReply(answer)
    } catch (error) {
      return refusalOf(error)
    }
  }

  /** The agent writes in Bob's conversation; resolves with the id when the callback is answered. */
  async write(content: string, extra: Extra = {}, conversation = this.conversation): Promise<number> {
    const { id, answered } = this.desk.write(content, extra, conversation)
    await answered
    return id
  }

  /** The customer writes; resolves with the message at the helpdesk. */
  async hears(content: MessageEvent['content'] | string, changes: Heard = {}): Promise<Posted> {
    const { from = this.bob, instance = 'n0', ...rest } = changes
    const { phone, lid } = from
    const event = message(content, {
      chat: { kind: 'person', phone, lid },
      sender: { phone, lid },
      pushName: from.name,
      at: this.network.now(),
      ...rest,
    })
    return this.receive(event, instance)
  }

  /** An event of the network is stored and handed over. */
  async store(event: NetworkEvent, instance = 'n0'): Promise<void> {
    const row = { id: this.#newRowId(), event, receivedAt: this.clock.now() }
    await this.database.write(new JournalStore(this.database).inbox({ ...row, instance }))
    this.process.inbound.reception.onReceived(instance, [row])
  }

  /** Resolves with what the bridge posts for an event of the network. */
  async receive(event: Extract<NetworkEvent, { id: string }>, instance = 'n0'): Promise<Posted> {
    await this.store(event, instance)
    const found = () => this.helpdesk.messages.find(({ sourceId }) => sourceId === event.id)
    await waitUntil('it is posted', () => found() !== undefined)
    await waitUntil(
      'it is noted',
      async () => (await this.database.read(this.database.query.selectFrom('inbox').select('id'))).length === 0,
    )
    // The bridge hears of the commit a moment after it can be read.
    await this.settle(1)
    return found() as Posted
  }

  /** Moves time in small steps until it holds; between two steps everything that needs no time happens. */
  async until(
    what: string,
    holds: () => boolean | Promise<boolean>,
    { stepMs = 100, instead }: UntilOptions = {},
  ): Promise<void> {
    const look = async () => {
      if (await holds()) return true
      await passTime(this, stepMs, 2)
      return holds()
    }
    await waitUntil(what, look, instead ? { instead } : {})
  }

  pass(ms: number): Promise<void> {
    return passTime(this, ms)
  }

  settle(rounds?: number): Promise<void> {
    return settle(this, rounds)
  }

  /** The message with this text that a person or a group received. */
  async received(text: string, by: Customer | string = this.bob): Promise<SentMessage> {
    const found = () => this.network.to(by).find(({ content }) => textOf(content) === text)
    await this.until(`"${text}" has arrived`, () => found() !== undefined, { instead: () => this.texts(by) })
    return found() as SentMessage
  }

  texts(by: Customer | string = this.bob): (string | undefined)[] {
    return this.network.to(by).map(({ content }) => textOf(content))
  }

  /** A message at the helpdesk, once it is what is awaited. */
  async shown(id: number, matches: (message: AgentMessage) => boolean): Promise<AgentMessage> {
    const instead = () => this.desk.message(id)
    await this.until(`message ${id} is shown so`, () => matches(this.desk.message(id)), { instead })
    return { ...this.desk.message(id) }
  }

  outbox(name = 'n0') {
    return this.process.outbound.outbox.totals(name)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
    await this.#owned.disposeAsync()
  }
}

const numberOf = (index: number) => `55119${String(10_000_000 + index)}`
