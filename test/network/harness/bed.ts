// A simulated network, a real database and the network room between them, all gone when the test is over.

import '../../sim/harness/quiet.ts'
import { EventLog } from '../../../sim/event-log.ts'
import type { SimPhone } from '../../../sim/network/accounts/sim-phone.ts'
import { SimNetwork } from '../../../sim/network/sim-network.ts'
import type { SimNetworkOptions } from '../../../sim/network/sim-network.ts'
import type { NetworkEvent } from '../../../src/core/message.ts'
import type { PersonNames, PersonPair, ReceivedRow, Reception } from '../../../src/core/network/reception.ts'
import type { Clock } from '../../../src/lib/clock.ts'
import type { WhatsappNetwork } from '../../../src/network/whatsapp-network.ts'
import type { Database, EngineName } from '../../../src/storage/database.ts'
import { LeaseStore } from '../../../src/storage/stores/lease-store.ts'
import { SessionKeyStore } from '../../../src/storage/stores/accounts/session-key-store.ts'
import { newDatabase } from '../../harness/databases.ts'
import { RecordedLog } from '../../harness/logs.ts'
import { holdOf } from '../../harness/holds.ts'
import { Line } from './line.ts'
import { createNetwork, settingsFor, storeLinked } from './network-room.ts'
import type { NetworkDeps } from './network-room.ts'

type Options = {
  engine?: EngineName
  sim?: SimNetworkOptions
  clock?: Clock
  network?: Partial<NetworkDeps>
  /** Stands between the room and its storage. */
  keys?: (store: SessionKeyStore) => NetworkDeps['keys']
}

export class Bed {
  readonly sim: SimNetwork
  readonly database: Database
  readonly store: SessionKeyStore
  readonly network: WhatsappNetwork
  readonly logs = new RecordedLog()
  readonly epoch: number
  readonly received = new EventLog<ReceivedRow>('what was received', ({ event }) => JSON.stringify(event))
  readonly names: PersonNames[] = []
  /** Settles when names are stored. */
  storingNames: Promise<void> | undefined
  readonly pairs: PersonPair[] = []
  readonly passedOver: string[] = []
  repeated = 0
  readonly #owned: AsyncDisposableStack
  readonly #lines: Line[] = []

  private constructor(
    sim: SimNetwork,
    database: Database,
    epoch: number,
    options: Options,
    owned: AsyncDisposableStack,
  ) {
    this.sim = sim
    this.database = database
    this.epoch = epoch
    this.store = new SessionKeyStore(database)
    this.#owned = owned
    const { clock, network, keys } = options
    const stored = { database, epoch, settings: settingsFor(sim) }
    this.network = createNetwork(stored, {
      log: this.logs.log,
      reception: this.#reception(),
      ...(keys && { keys: keys(this.store) }),
      ...(clock && { clock }),
      ...network,
    })
  }

  static async open(options: Options = {}): Promise<Bed> {
    await using stack = new AsyncDisposableStack()
    const sim = stack.use(await SimNetwork.start(options.sim))
    const { database } = stack.use(await newDatabase(options.engine ?? 'sqlite'))
    const epoch = await new LeaseStore(database).acquire('test', 600_000)
    if (epoch === undefined) throw new Error('the lease was not free')
    return new Bed(sim, database, epoch, options, stack.move())
  }

  /** An account whose keys are stored, as after a pairing. */
  async linked(sessionId: string, number = '5511999990001'): Promise<SimPhone> {
    const phone = this.sim.phone(number) ?? this.sim.account({ phone: number, name: 'Ana' })
    await storeLinked(this.sim, phone, (writes) => this.store.save(holdOf('a', this.epoch), sessionId, writes))
    return phone
  }

  /** Opens a connection and listens to it. */
  async dial(sessionId: string): Promise<Line> {
    const line = await Line.open(this.network, sessionId)
    this.#lines.push(line)
    return line
  }

  /** A connection that has taken everything that waited for it. */
  async online(sessionId: string): Promise<Line> {
    const line = await this.dial(sessionId)
    await line.drained()
    return line
  }

  /** What was received under this id. */
  async event(id: string): Promise<NetworkEvent> {
    const { event } = await this.received.waitFor(`the event ${id}`, (one) => one.event.id === id)
    return event
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.network[Symbol.asyncDispose]()
    await this.#owned.disposeAsync()
  }

  #reception(): Partial<Reception> {
    return {
      onReceived: (_, rows) => {
        for (const row of rows) this.received.add(row)
      },
      onNames: (_, names) => {
        this.names.push(...names)
        return this.storingNames
      },
      onPairs: (_, pairs) => {
        this.pairs.push(...pairs)
      },
      onPassedOver: (_, kind) => {
        this.passedOver.push(kind)
      },
      onRepeated: () => {
        this.repeated += 1
      },
    }
  }
}
