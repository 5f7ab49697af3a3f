// The inbound bridge with a real database, a clock that a test moves, and a scripted helpdesk and network.

import { noTraces } from '../../../../src/core/trace/traces.ts'
import type { Readable } from 'node:stream'
import { createInbound } from '../../../../src/app/inbound/create-inbound.ts'
import type { Identities } from '../../../../src/bridge/inbound/destination-router.ts'
import type { InboundSet } from '../../../../src/app/inbound/create-inbound.ts'
import { createSettingsOf } from '../../../../src/app/settings-of.ts'
import { loadConfig } from '../../../../src/config/config.ts'
import type { Config } from '../../../../src/config/config.ts'
import type { OwnSettings } from '../../../../src/core/chosen-settings.ts'
import type { Destination } from '../../../../src/core/downstream.ts'
import type { Chat } from '../../../../src/core/address.ts'
import type { Content, Envelope, FileRef, MessageEvent, NetworkEvent } from '../../../../src/core/message.ts'
import type { Network, NetworkSession } from '../../../../src/core/network.ts'
import { Metrics } from '../../../../src/ledger/metrics.ts'
import { Usage } from '../../../../src/ledger/usage.ts'
import { createRowIds } from '../../../../src/lib/row-ids.ts'
import type { Database, EngineName } from '../../../../src/storage/database.ts'
import { JournalStore } from '../../../../src/storage/stores/messages/journal-store.ts'
import { LeaseStore } from '../../../../src/storage/stores/lease-store.ts'
import { UsageStore } from '../../../../src/storage/stores/ledger/usage-store.ts'
import { newDatabase } from '../../../harness/databases.ts'
import { RecordedLog } from '../../../harness/logs.ts'
import { ManualClock } from '../../../harness/manual-clock.ts'
import { sampleInstanceColumns } from '../../../harness/samples.ts'
import { waitUntil } from '../../../harness/wait-until.ts'
import { passTime, settle } from '../../harness/pass-time.ts'
import { ScriptedHelpdesk } from '../../harness/scripted-helpdesk.ts'
import { holdsAt, holdsWithout } from '../../../harness/holds.ts'
import { allDuties } from '../../../harness/duties.ts'

export const desk: Destination = {
  key: 'http://desk|1|1',
  baseUrl: 'http://desk',
  apiToken: 't',
  accountId: 1,
  inboxId: 1,
}

type Options = {
  engine?: EngineName
  environment?: Record<string, string>
  instances?: string[]
  lateCommitMs?: number
}

export class BridgeBed {
  /** What instances have of their own. */
  readonly own = new Map<string, OwnSettings>()
  readonly clock = new ManualClock()
  readonly helpdesk = new ScriptedHelpdesk()
  readonly logs = new RecordedLog()
  readonly database: Database
  /** Where each instance delivers to; an instance without an entry has no destination. */
  readonly routes = new Map<string, Destination>()
  download: (file: FileRef, signal: AbortSignal) => Promise<Readable> = () => Promise.reject(new Error('no file'))
  unseal: Network['unseal'] = () => null
  session: Partial<NetworkSession> | undefined
  set: InboundSet
  readonly metrics: Metrics
  readonly #options: Options
  readonly #owned: AsyncDisposableStack
  readonly #nextId: () => string
  #epoch = 1
  /** Instances that another process holds by now. */
  readonly lost = new Set<string>()

  private constructor(database: Database, owned: AsyncDisposableStack, options: Options) {
    this.database = database
    this.#owned = owned
    this.#options = options
    this.#nextId = createRowIds(this.clock)
    for (const name of this.instances) this.routes.set(name, desk)
    this.metrics = new Metrics({ version: 'x' })
    this.set = this.#compose(this.metrics)
  }

  static async open(options: Options = {}): Promise<BridgeBed> {
    await using stack = new AsyncDisposableStack()
    const { database } = stack.use(await newDatabase(options.engine ?? 'sqlite'))
    const bed = new BridgeBed(database, stack.move(), options)
    await new LeaseStore(database).acquire('me', 600_000)
    const rows = bed.instances.map((name) => sampleInstanceColumns(name, { jid: '5511900000000@s.whatsapp.net' }))
    await database.write(database.query.insertInto('instances').values(rows))
    return bed
  }

  get instances(): string[] {
    return this.#options.instances ?? ['a']
  }

  get inbound() {
    return this.set.inbound
  }

  /** As the journal does: stored first, told of then. */
  async receive(event: NetworkEvent, instance = 'a'): Promise<void> {
    const row = await this.store(event, instance)
    this.set.reception.onReceived(instance, [row])
  }

  async store(event: NetworkEvent, instance = 'a') {
    const row = { id: this.#nextId(), event, receivedAt: this.clock.now() }
    await this.database.write(new JournalStore(this.database).inbox({ ...row, instance }))
    return row
  }

  async take(instance: string): Promise<void> {
    for (const part of this.set.perInstance) await part.take?.(instance)
  }

  async leave(instance: string): Promise<void> {
    for (const part of this.set.perInstance) await part.leave(instance)
  }

  /** The process ends and another one takes up what is stored; a crash leaves everything where it is. */
  async restart({ crash = false } = {}): Promise<void> {
    const old = this.set
    if (crash) this.#epoch = -1
    await old.inbound[Symbol.asyncDispose]()
    this.#epoch = 1
    this.set = this.#compose(new Metrics({ version: 'x' }))
    for (const name of this.instances) await this.take(name)
  }

  /** Storage refuses to store that the helpdesk has a message, until the returned function is called. Only on SQLite. */
  async refuseCompletions(): Promise<() => Promise<void>> {
    const change = (sql: string) => this.database.write({ sql, parameters: [] })
    await change(`CREATE TRIGGER uncompleted BEFORE UPDATE OF message_id ON message_map
                  BEGIN SELECT RAISE(ABORT, 'storage is away'); END`)
    return async () => {
      await change('DROP TRIGGER uncompleted')
      // The next try is due after at most 30 s.
      await this.pass(30_000)
    }
  }

  posted(count: number): Promise<void> {
    const { messages } = this.helpdesk
    return waitUntil(`${count} messages are posted`, () => messages.length >= count, {
      instead: () => this.helpdesk.contents,
    })
  }

  /** Moves time step by step until that many messages are there. */
  async postedWithin(count: number, ms: number, stepMs = 500): Promise<void> {
    for (let passed = 0; passed < ms && this.helpdesk.messages.length < count; passed += stepMs) {
      await this.pass(stepMs)
    }
    await this.posted(count)
  }

  /** Moves time step by step until nothing waits any more. */
  async drainedWithin(ms: number, stepMs = 500): Promise<void> {
    for (let passed = 0; passed < ms && (await this.rows()) > 0; passed += stepMs) await this.pass(stepMs)
    await this.drained()
  }

  pass(ms: number): Promise<void> {
    return passTime(this, ms)
  }

  settle(rounds?: number): Promise<void> {
    return settle(this, rounds)
  }

  async drained(): Promise<void> {
    await waitUntil('the inbox is empty', async () => (await this.rows()) === 0)
    // The bridge hears of the commit a moment after it can be read, and counts then.
    await this.settle(1)
  }

  /** The settings that count for an instance now. */
  get settingsOf() {
    const ownOf = (name: string) => ({ record: { ownSettings: this.own.get(name) ?? {} } })
    return createSettingsOf(this.#config(), { find: ownOf })
  }

  async rows(): Promise<number> {
    return (await this.database.read(this.database.query.selectFrom('inbox').select('id'))).length
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.inbound[Symbol.asyncDispose]()
    await this.#owned.disposeAsync()
  }

  #config(): Config {
    return loadConfig({ DATABASE_URL: 'file:./x.db', ...this.#options.environment })
  }

  #compose(metrics: Metrics): InboundSet {
    const { clock, database, helpdesk: downstream, routes } = this
    const records = new Map(
      this.instances.map((name) => {
        const record = { ...sampleInstanceColumns(name), jid: '5511900000000@s.whatsapp.net', owner_tag: '' }
        return [name, record]
      }),
    )
    const find = (name: string) => {
      const record = records.get(name)
      return record && ({ record, openSession: this.session } as never)
    }
    return createInbound({
      callOutcomeOf: () => Promise.resolve(undefined),
      duties: allDuties,
      config: this.#config(),
      settingsOf: this.settingsOf,
      clock,
      log: this.logs.log,
      database,
      holds: holdsWithout(
        this.lost,
        holdsAt(() => this.#epoch),
      ),
      instances: { find, list: () => [] },
      network: {
        download: (_instance, file, signal) => this.download(file, signal),
        unseal: (event, target) => this.unseal(event, target),
      },
      downstream,
      routing: {
        accessOf: (record) => Promise.resolve(routes.get((record as { name?: string }).name ?? '') ?? null),
      },
      identities: probedIdentities(downstream),
      metrics,
      traces: noTraces,
      ...(this.#options.lateCommitMs !== undefined && { lateCommitMs: this.#options.lateCommitMs }),
      usage: new Usage({ store: new UsageStore(database), clock }),
    })
  }
}

/** Every destination is known from the start. One that was held is probed. */
function probedIdentities(downstream: ScriptedHelpdesk): Identities {
  const forgotten = new Set<string>()
  return {
    recall: (access) => (forgotten.has((access as Destination).key) ? undefined : (access as Destination)),
    identify: async (access) => {
      const destination = access as Destination
      if (forgotten.has(destination.key)) await downstream.helpdesk(destination).probe()
      forgotten.delete(destination.key)
      return destination
    },
    forget: (access) => {
      forgotten.add((access as Destination).key)
    },
  }
}

let count = 0

export function person(digits: string): { kind: 'person'; phone: string; lid: null } {
  return { kind: 'person', phone: digits, lid: null }
}

/** What every event of a message carries. */
export function envelope(changes: Partial<Envelope> = {}): Envelope {
  const { id, at, chat, sender, fromMe, pushName } = message('', changes)
  return { id, at, chat, sender, fromMe, pushName }
}

export function message(content: Content | string, changes: Partial<MessageEvent> = {}): MessageEvent {
  const chat: Chat = changes.chat ?? person('5511988887777')
  return {
    kind: 'message',
    id: `W${++count}`,
    at: 1000,
    chat,
    sender: chat.kind === 'person' ? { phone: chat.phone, lid: chat.lid } : { phone: '5511988887777', lid: null },
    fromMe: false,
    pushName: 'Maria',
    content: typeof content === 'string' ? { type: 'text', text: content } : content,
    quote: null,
    mentions: [],
    ad: null,
    secret: null,
    ...changes,
  }
}
