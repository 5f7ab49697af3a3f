// All instances of the service. Those that this node holds come from its memory, those of other nodes from the database.
//
// As long as this node holds every instance, nothing is read.

import { BridgeError } from '../../core/errors.ts'
import type { InstanceName } from '../../core/ids.ts'
import { isActive } from '../../core/instance.ts'
import type { Clock } from '../../lib/clock.ts'
import { LastReading } from '../../lib/last-reading.ts'
import { NextRun } from '../../lib/queues/next-run.ts'
import type { InstanceRow } from '../../storage/stores/accounts/instance-rows.ts'
import type { InstanceStore } from '../../storage/stores/accounts/instance-store.ts'
import type { PendingLogoutStore } from '../../storage/stores/accounts/pending-logout-store.ts'
import type { LinkedAccount } from '../linked-account.ts'

/** What is shown of an instance, whichever node holds it. */
export type ListedInstance = Pick<LinkedAccount, 'record' | 'qr' | 'reconnectAttempts' | 'isLogoutPending'>

type Deps = {
  /** What this node holds. */
  registry: {
    find(name: InstanceName): ListedInstance | undefined
    has(name: InstanceName): boolean
    /** By name. */
    list(): ListedInstance[]
    counts(): { active: number; total: number }
  }
  instances: Pick<InstanceStore, 'list' | 'find'>
  logouts: Pick<PendingLogoutStore, 'list'>
  /** False only while this node holds every instance. */
  hasPeers: () => boolean
  clock: Clock
}

/** How old the memory may be for callers that need no token, and how long they wait for a newer one. */
const freshMs = 1000
const patienceMs = 500

export class Roster {
  readonly #deps: Deps
  readonly #reads = new NextRun(() => this.#read())
  readonly #recent: LastReading<void>
  /** Every stored instance as of the last read. */
  #stored: ReadonlyMap<InstanceName, ListedInstance> = new Map()
  /** Deleted while a read was under way, which may still have seen them. */
  readonly #forgotten = new Set<InstanceName>()

  constructor(deps: Deps) {
    this.#deps = deps
    this.#recent = new LastReading({ read: () => this.refresh(), clock: deps.clock, freshMs, deadlineMs: patienceMs })
  }

  /** From memory: an instance of another node is as it was at the last read. */
  find(name: InstanceName): ListedInstance | undefined {
    return this.#deps.registry.find(name) ?? (this.#deps.hasPeers() ? this.#stored.get(name) : undefined)
  }

  /** As it is now. */
  async findCurrent(name: InstanceName): Promise<ListedInstance | undefined> {
    const { registry, instances, logouts, hasPeers } = this.#deps
    const held = registry.find(name)
    if (held || !hasPeers()) return held
    const [row, pending] = await Promise.all([instances.find(name), logouts.list()])
    const isLogoutPending = pending.some(({ instance }) => instance === name)
    // This node may have taken the instance meanwhile.
    return registry.find(name) ?? (row && toListed(row, isLogoutPending))
  }

  /** As it is now. Throws SERVICE_INSTANCE_NOT_FOUND. */
  async getCurrent(name: InstanceName): Promise<ListedInstance> {
    const found = await this.findCurrent(name)
    if (!found) throw new BridgeError('SERVICE_INSTANCE_NOT_FOUND', `there is no instance ${JSON.stringify(name)}`)
    return found
  }

  /** By name, from memory: instances of other nodes are as they were at the last read. */
  list(): ListedInstance[] {
    const others = this.#others()
    const held = this.#deps.registry.list()
    return others.length === 0 ? held : [...held, ...others].sort(byName)
  }

  /** By name, as they are now. */
  async current(): Promise<ListedInstance[]> {
    await this.refresh()
    return this.list()
  }

  counts(): { active: number; total: number } {
    const { active, total } = this.#deps.registry.counts()
    const others = this.#others()
    return {
      active: active + others.filter(({ record }) => isActive(record.state)).length,
      total: total + others.length,
    }
  }

  /** Afterwards the memory is not older than this call. Callers that come during a read share the next one. */
  refresh(): Promise<void> {
    return this.#deps.hasPeers() ? this.#reads.run() : Promise.resolve()
  }

  /** Afterwards the memory is at most a second old, unless the database fails or is slow. */
  async freshen(): Promise<void> {
    if (this.#deps.hasPeers()) await this.#recent.find()
  }

  /** The instance was deleted here. */
  forget(name: InstanceName): void {
    this.#forgotten.add(name)
    this.#stored = without(this.#stored, name)
  }

  /** An instance that this node has given away is still known here, as it was before. */
  #others(): ListedInstance[] {
    const { registry, hasPeers } = this.#deps
    return hasPeers() ? [...this.#stored.values()].filter(({ record }) => !registry.has(record.name)) : []
  }

  async #read(): Promise<void> {
    const { instances, logouts } = this.#deps
    this.#forgotten.clear()
    const [rows, pending] = await Promise.all([instances.list(), logouts.list()])
    const leaving = new Set(pending.map(({ instance }) => instance))
    const known = rows.filter(({ name }) => !this.#forgotten.has(name))
    this.#stored = new Map(known.map((row) => [row.name, toListed(row, leaving.has(row.name))]))
  }
}

/** The QR code and the attempts to connect are known only to the node that holds the instance. */
function toListed(record: InstanceRow, isLogoutPending: boolean): ListedInstance {
  return { record, qr: null, reconnectAttempts: 0, isLogoutPending }
}

function byName(one: ListedInstance, other: ListedInstance): number {
  return one.record.name < other.record.name ? -1 : 1
}

function without<Value>(map: ReadonlyMap<string, Value>, key: string): ReadonlyMap<string, Value> {
  const left = new Map(map)
  left.delete(key)
  return left
}
