// The accounts that this process holds, by name. The roster answers for all instances of the service.

import { setImmediate as nextTurn } from 'node:timers/promises'
import { BridgeError } from '../core/errors.ts'
import type { InstanceName } from '../core/ids.ts'
import { isActive } from '../core/instance.ts'
import type { HoldOf, NodeHold } from '../core/nodes/hold.ts'
import type { PerInstance } from '../core/per-instance.ts'
import { ignoreRejection } from '../lib/ignore.ts'
import { getOrCreate } from '../lib/keyed.ts'
import type { InstanceRow } from '../storage/stores/accounts/instance-rows.ts'
import { keepSessionsMs } from './kept-sessions.ts'
import { LinkedAccount } from './linked-account.ts'
import type { AccountDeps } from './linked-account.ts'
import type { PendingLogouts } from './pending-logouts.ts'

// Spreads the first connects of a start, so that the network does not see one burst.
const bootSpreadMs = 20
/** How many accounts begin to connect in one turn of the event loop. */
const bootsPerTurn = 20
// How many instances are taken side by side at a start. They share their reads.
const takesAtOnce = 100

type Deps = Omit<AccountDeps, 'hold' | 'onChange' | 'pendingLogouts'> & {
  pendingLogouts: PendingLogouts
  holdOf: HoldOf
  nodeHold: () => NodeHold
  /** Every part that keeps memory per instance. */
  parts: PerInstance
  /** Called after every change of any instance. */
  onChange: (name: InstanceName) => void
}
/** `deleted`: the instance is gone. `lost`: another node has it. Undefined: it has changed. */
type Watcher = (end?: 'deleted' | 'lost') => void

export class InstanceRegistry {
  readonly #deps: Deps
  readonly #accounts = new Map<string, LinkedAccount>()
  readonly #watchers = new Map<string, Set<Watcher>>()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Knows every stored instance afterwards; nothing is connected yet. Commands to their accounts wait for boot(). */
  async load(): Promise<void> {
    for (const row of await this.#deps.instances.list()) this.#add(row).awaitBoot()
  }

  /** Every part takes every instance that was loaded. */
  async takeAll(): Promise<void> {
    const names = [...this.#accounts.keys()]
    for (let from = 0; from < names.length; from += takesAtOnce) {
      await Promise.all(names.slice(from, from + takesAtOnce).map(async (name) => this.#deps.parts.take?.(name)))
    }
  }

  /** An instance becomes live in this process. Commands to its account wait until every part has taken the instance. */
  take(row: InstanceRow): LinkedAccount {
    const account = this.#add(row)
    account.prepare(async () => {
      await this.#deps.parts.take?.(row.name)
    })
    return account
  }

  /**
   * Every part takes an instance that another process may have held before. Nothing of it is connected yet, and commands to its
   * account wait for its boot.
   */
  async open(row: InstanceRow): Promise<LinkedAccount> {
    const account = this.#add(row)
    account.awaitBoot()
    try {
      await this.#deps.parts.take?.(row.name)
      return account
    } catch (error) {
      this.#accounts.delete(row.name)
      // Commands that wait for its boot are refused.
      await account[Symbol.asyncDispose]().catch(ignoreRejection)
      throw error
    }
  }

  /** The parts begin no more work on the instance. Resolves when what was under way has ended. */
  async rest(name: InstanceName): Promise<void> {
    await this.#deps.parts.rest?.(name)
  }

  /** No part remembers the instance afterwards; it is still listed, and its account must be closed before. */
  async leave(name: InstanceName): Promise<void> {
    await this.#deps.parts.leave(name)
  }

  /** Goes on with what belongs to no account: keys of sessions that nothing refers to, and logouts that are pending. */
  async resume(): Promise<void> {
    await this.dropWorthlessKeys()
    await this.#deps.pendingLogouts.start()
  }

  /**
   * Boots all accounts side by side; the gate limits how many connect at once. They begin in turns of the event loop, so that
   * requests are answered meanwhile.
   */
  async boot(): Promise<void> {
    const { random, log } = this.#deps
    const spread = this.#accounts.size * bootSpreadMs
    for (const [index, [name, account]] of [...this.#accounts].entries()) {
      if (index > 0 && index % bootsPerTurn === 0) await nextTurn()
      // Deleted meanwhile.
      if (this.#accounts.get(name) !== account) continue
      account.boot(Math.round(random() * spread)).catch((err: unknown) => {
        log.error({ err, instance: name }, 'an instance could not be taken up')
      })
    }
  }

  /** Destroys the keys of sessions that were kept long enough, and of sessions without a record. */
  async dropWorthlessKeys(): Promise<void> {
    const { instances, nodeHold, clock } = this.#deps
    await instances.dropOrphans(nodeHold(), clock.now() - keepSessionsMs)
  }

  /** This node may be given up: all connections close, also those that only log a session out. */
  cutOff(): void {
    for (const account of this.#accounts.values()) account.cutOff()
    this.#deps.pendingLogouts.cutOff()
  }

  /** This node holds what it held. */
  goOn(): void {
    for (const account of this.#accounts.values()) account.goOn()
  }

  /** The clock was put back: no account remembers a time in the future. */
  correctFutureTimes(): void {
    for (const account of this.#accounts.values()) account.correctFutureTimes()
  }

  remove(name: InstanceName, end: 'deleted' | 'lost' = 'deleted'): void {
    this.#accounts.delete(name)
    for (const watcher of [...(this.#watchers.get(name) ?? [])]) watcher(end)
  }

  find(name: InstanceName): LinkedAccount | undefined {
    return this.#accounts.get(name)
  }

  get(name: InstanceName): LinkedAccount {
    const account = this.find(name)
    if (!account) throw new BridgeError('SERVICE_INSTANCE_NOT_FOUND', `there is no instance ${JSON.stringify(name)}`)
    return account
  }

  has(name: InstanceName): boolean {
    return this.#accounts.has(name)
  }

  /** By name. */
  list(): LinkedAccount[] {
    return [...this.#accounts.values()].sort((a, b) => (a.record.name < b.record.name ? -1 : 1))
  }

  records(): Readonly<InstanceRow>[] {
    return this.list().map(({ record }) => record)
  }

  counts(): { active: number; total: number } {
    let active = 0
    for (const account of this.#accounts.values()) if (isActive(account.state)) active++
    return { active, total: this.#accounts.size }
  }

  /** Calls `watcher` after every change of this instance, its removal included; returns how to stop. */
  watch(name: InstanceName, watcher: Watcher): () => void {
    const watchers = getOrCreate(this.#watchers, name, () => new Set())
    watchers.add(watcher)
    return () => {
      watchers.delete(watcher)
      if (watchers.size === 0) this.#watchers.delete(name)
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#accounts.values()].map((account) => account[Symbol.asyncDispose]()))
  }

  #add(row: InstanceRow): LinkedAccount {
    const onChange = () => {
      for (const watcher of [...(this.#watchers.get(row.name) ?? [])]) watcher()
      this.#deps.onChange(row.name)
    }
    const account = new LinkedAccount({ ...this.#deps, hold: this.#deps.holdOf(row.name), onChange }, row)
    this.#accounts.set(row.name, account)
    return account
  }
}
