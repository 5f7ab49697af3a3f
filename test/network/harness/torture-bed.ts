// People, a group and an account on a simulated network, and a client process among them that a test kills.

import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { SimPhone } from '../../../sim/network/accounts/sim-phone.ts'
import type { SimGroup } from '../../../sim/network/groups/sim-group.ts'
import type { SimPerson } from '../../../sim/network/people/sim-person.ts'
import { SimNetwork } from '../../../sim/network/sim-network.ts'
import { openDatabase } from '../../../src/storage/database.ts'
import type { Database } from '../../../src/storage/database.ts'
import { LeaseStore } from '../../../src/storage/stores/lease-store.ts'
import { SessionKeyStore } from '../../../src/storage/stores/accounts/session-key-store.ts'
import { newLocation } from '../../harness/databases.ts'
import { harshNetwork } from '../../harness/harsh-network.ts'
import { silentLog } from '../../harness/logs.ts'
import { holdOf } from '../../harness/holds.ts'
import type { ClientOptions } from './client-process.ts'
import { Line } from './line.ts'
import { createNetwork, settingsFor, storeLinked } from './network-room.ts'

const script = fileURLToPath(new URL('./client-process.ts', import.meta.url))

/** `stopDisk` resolves when a save of keys stands still. Saves that began before are finished. */
type TortureClient = AsyncDisposable & { stopDisk: () => Promise<void> }
type Shared = Omit<ClientOptions, 'seed' | 'targets'>

export class TortureBed {
  readonly sim: SimNetwork
  readonly phone: SimPhone
  readonly people: SimPerson[]
  readonly group: SimGroup
  readonly #options: Shared
  readonly #owned: AsyncDisposableStack

  private constructor(sim: SimNetwork, options: Shared, owned: AsyncDisposableStack) {
    this.sim = sim
    this.phone = sim.account({ phone: '5511999990001' })
    this.people = [1, 2, 3].map((n) => sim.person({ phone: `551188888000${n}` }))
    const [first, ...others] = this.people
    assert.ok(first)
    this.group = sim.group('Team', first, [this.phone, ...others])
    this.#options = options
    this.#owned = owned
  }

  /** The slower the disk, the more likely a kill strikes between a frame and the write of the keys behind it. */
  static async open(way: ClientOptions['way'], saveMs: number): Promise<TortureBed> {
    await using stack = new AsyncDisposableStack()
    // A client without the journal refuses what it cannot open a second time, and would wait for it for ever.
    const harsh = { ...harshNetwork, nacksSettle: way !== 'protected' }
    // The library asks for the backlog only once, so a stock client gets all of it then.
    const behaviour = way === 'stock' ? { window: Infinity, nacksSettle: true } : harsh
    const sim = stack.use(await SimNetwork.start({ ...behaviour, seed: 'torture' }))
    sim.log.areViolationsAllowed = way === 'stock'
    const { location } = stack.use(await newLocation('sqlite'))
    await using database = await openDatabase({ location, encryptionKeys: [], log: silentLog })
    const epoch = (await new LeaseStore(database).acquire('torture', 600_000)) ?? 0
    const bed = new TortureBed(sim, { location, settings: settingsFor(sim), epoch, way, saveMs }, stack.move())
    const store = new SessionKeyStore(database)
    await storeLinked(sim, bed.phone, (writes) => store.save(holdOf('a', epoch), 's', writes))
    return bed
  }

  /** Where a client may write to: every person and the group. */
  get targets(): string[] {
    return [...this.people.map(({ user }) => user.pnJid), this.group.jid]
  }

  /** A client that is connected and writes to these targets; its end is kill -9. */
  async startClient(seed: string, targets: string[]): Promise<TortureClient> {
    const options: ClientOptions = { ...this.#options, seed, targets }
    const child = fork(script, [JSON.stringify(options)], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
    const gone = once(child, 'exit')
    await Promise.race([once(child, 'message'), gone.then(() => Promise.reject(new Error('the client did not start')))])
    return {
      async stopDisk() {
        child.send('stop')
        await once(child, 'message')
      },
      async [Symbol.asyncDispose]() {
        child.kill('SIGKILL')
        await gone
      },
    }
  }

  /** The account is online in this process, with what the killed clients left in storage. */
  async takeOver(stack: AsyncDisposableStack): Promise<{ database: Database; line: Line }> {
    const { location, epoch, settings } = this.#options
    const database = stack.use(await openDatabase({ location, encryptionKeys: [], log: silentLog }))
    const network = stack.use(createNetwork({ database, epoch, settings }))
    const line = await Line.open(network, 's')
    await line.drained()
    return { database, line }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#owned.disposeAsync()
  }
}

/** Does this again and again until it is disposed of. */
export function every(ms: number, work: () => void): Disposable {
  const timer = setInterval(work, ms)
  return {
    [Symbol.dispose]() {
      clearInterval(timer)
    },
  }
}
