// The instances of one node, with a scripted network and a database that the test changes.

import type { InstanceName } from '../../../src/core/ids.ts'
import { NotHeldError } from '../../../src/core/nodes/hold.ts'
import type { Hold } from '../../../src/core/nodes/hold.ts'
import type { Assignment, SeenNode } from '../../../src/core/nodes/node.ts'
import { HandOver } from '../../../src/instances/hand-over.ts'
import { Holdings } from '../../../src/instances/holdings.ts'
import { InstanceRegistry } from '../../../src/instances/instance-registry.ts'
import { PendingLogouts } from '../../../src/instances/pending-logouts.ts'
import { Reachability } from '../../../src/instances/reachability.ts'
import { Semaphore } from '../../../src/lib/queues/semaphore.ts'
import type { InstanceRow } from '../../../src/storage/stores/accounts/instance-rows.ts'
import type { InstanceStore } from '../../../src/storage/stores/accounts/instance-store.ts'
import { allDuties } from '../duties.ts'
import { noLogouts } from '../no-logouts.ts'
import { nodeHold } from '../holds.ts'
import { silentLog } from '../logs.ts'
import { ManualClock } from '../manual-clock.ts'
import { sampleInstance } from '../samples.ts'
import { ScriptedNetwork } from '../scripted-network.ts'

export const other: SeenNode = {
  ...{ id: 'other', name: 'host:2', address: 'http://127.0.0.1:2', build: '1', protocol: 1, settingsHash: '' },
  ...{ capacity: 100, state: 'active', beat: 1, joinedAt: 0 },
}

export class HoldingsBed {
  readonly clock: ManualClock
  readonly network = new ScriptedNetwork()
  /** What was done, in order. */
  readonly calls: string[] = []
  /** The stored instances. */
  readonly rows = new Map<InstanceName, InstanceRow>()
  /** What this node holds, as its membership knows. */
  readonly held = new Map<InstanceName, Hold>()
  readonly registry: InstanceRegistry
  readonly pendingLogouts: PendingLogouts
  readonly holdings: Holdings
  /** Replaced by a test. */
  onTake: () => Promise<void> = () => Promise.resolve()
  onRest: () => Promise<void> = () => Promise.resolve()
  onLeave: () => Promise<void> = () => Promise.resolve()
  onHandOver: (hold: Hold) => Promise<Assignment | undefined> = (hold) => Promise.resolve(givenTo(other.id, hold))
  isPinned = false
  waiting: InstanceName[] = []
  random = 0.5

  constructor(clock = new ManualClock()) {
    this.clock = clock
    const logoutDeps = { logouts: noLogouts, duties: allDuties, nodeHold: () => nodeHold(), random: () => 0.5 }
    this.pendingLogouts = new PendingLogouts({ ...logoutDeps, network: this.network, clock, log: silentLog })
    this.registry = this.#createRegistry()
    const { registry, network, calls } = this
    const handOver = new HandOver({
      ...{ registry, network, clock, log: silentLog },
      assignments: {
        handOver: (hold) => {
          calls.push('commit')
          return this.onHandOver(hold)
        },
      },
      peers: {
        look: ({ id }) => {
          calls.push(`tell ${id}`)
          return Promise.resolve()
        },
      },
      onStep: () => Promise.resolve(),
    })
    this.holdings = new Holdings({
      ...{ registry, handOver, clock, log: silentLog },
      instances: { find: (name) => Promise.resolve(this.rows.get(name)) },
      isPinned: () => this.isPinned,
      hasWaiting: (name) => this.waiting.includes(name),
      random: () => this.random,
    })
  }

  /** The start is over: what comes connects. */
  static begun(clock?: ManualClock): HoldingsBed {
    const bed = new HoldingsBed(clock)
    bed.holdings.begin()
    return bed
  }

  /** Whether the node has an open connection of the account. */
  isOnline(name: InstanceName): boolean {
    return this.network.opened.some(({ sessionId, isOpen }) => sessionId === `session of ${name}` && isOpen)
  }

  /** The database assigns the instance to this node. `lost` aborts when it does so no more. */
  take(instance: InstanceName, epoch: number, lost = new AbortController()): Promise<void> {
    this.rows.set(instance, sampleInstance(instance, { sessionId: `session of ${instance}` }))
    const hold = { instance, node: 'self', epoch }
    this.held.set(instance, hold)
    return this.holdings.take(hold, lost.signal)
  }

  giveAway(instance: InstanceName, lost = new AbortController()): Promise<'tried' | 'not_now'> {
    return this.holdings.giveAway(this.#holdOf(instance), other, lost.signal)
  }

  lose(instance: InstanceName): Promise<void> {
    const hold = this.#holdOf(instance)
    this.held.delete(instance)
    return this.holdings.lose(hold)
  }

  /** What can go on without more time goes on. */
  async settle(ms = 0): Promise<void> {
    await this.clock.advance(ms)
    for (let turn = 0; turn < 8; turn++) await this.clock.advance(0)
  }

  #holdOf(instance: InstanceName): Hold {
    const hold = this.held.get(instance)
    if (!hold) throw new NotHeldError(instance)
    return hold
  }

  #createRegistry(): InstanceRegistry {
    const { clock, network, pendingLogouts, calls } = this
    const none = () => Promise.resolve([])
    const holds = { holdOf: (name: InstanceName) => this.#holdOf(name), nodeHold: () => nodeHold() }
    const shared = { network, clock, ...holds, random: () => 0.5, log: silentLog }
    const store = { update: () => Promise.resolve(), keptSessions: none } as Partial<InstanceStore>
    const noted = (call: string, work: () => Promise<void>) => (name: InstanceName) => {
      calls.push(`${call} ${name}${call === 'rest' && this.isOnline(name) ? ' online' : ''}`)
      return work()
    }
    return new InstanceRegistry({
      ...shared,
      instances: store as InstanceStore,
      pendingLogouts,
      parts: {
        take: noted('take', () => this.onTake()),
        rest: noted('rest', () => this.onRest()),
        leave: noted('leave', () => this.onLeave()),
      },
      ...{ gate: new Semaphore(16), qrLifetimeMs: 20_000, asksHistory: true, onChange: () => undefined },
      lifecycle: {
        prepare: ({ name, ownerTag }, event, extras = {}) => ({
          event,
          instance: name,
          ownerTag,
          extras,
          deliveries: [],
        }),
        stored: () => undefined,
      },
      graces: { unreachableMs: 60_000, reconnectedMs: 5000 },
      reachability: new Reachability(shared),
    })
  }
}

export function givenTo(node: string, { instance, epoch }: Hold): Assignment {
  return { instance, node, epoch: epoch + 1, since: 0, crashes: 0, crashedAt: null, quarantinedAt: null }
}
