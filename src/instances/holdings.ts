// The instances that this node holds: opens those that it gets, closes those that it loses, and gives away those that another
// node is to have. The database decides; this follows it.
//
// taken   → served   when every part has taken the instance; then it connects
// served  → leaving  when another node is to have it: requests go there, running work ends, the connection closes
// any     → lost     when the database says that another node has it

import type { InstanceName } from '../core/ids.ts'
import type { Hold } from '../core/nodes/hold.ts'
import type { SeenNode } from '../core/nodes/node.ts'
import type { Standing } from '../core/nodes/owners.ts'
import type { Clock } from '../lib/clock.ts'
import { ignoreRejection } from '../lib/ignore.ts'
import type { Log } from '../lib/log.ts'
import { Semaphore } from '../lib/queues/semaphore.ts'
import type { Holder } from '../nodes/membership/holder.ts'
import type { InstanceStore } from '../storage/stores/accounts/instance-store.ts'
import type { HandOver } from './hand-over.ts'
import type { InstanceRegistry } from './instance-registry.ts'
import type { LinkedAccount } from './linked-account.ts'

/** How many instances are taken side by side. */
const takesAtOnce = 16
/** So many connect at once: no more move at the same time while nodes become even. */
const unspread = 8
/** Spreads the first connects of all others, so that the network does not see one burst. */
const spreadMs = 20
/** After a death the instances of the dead node are to be online again within seconds. */
const mostSpreadMs = 1500
/** What came from another node has connected by then, or tries again like all others. */
const takeOverMs = 30_000

type Deps = {
  registry: Pick<InstanceRegistry, 'open' | 'find' | 'remove' | 'cutOff' | 'goOn'>
  instances: Pick<InstanceStore, 'find'>
  handOver: Pick<HandOver, 'give' | 'drop'>
  /** Work that another node would have to begin anew: the instance stays for now. */
  isPinned: (account: LinkedAccount) => boolean
  /** Messages wait to be sent: the instance connects before others. */
  hasWaiting: (instance: InstanceName) => boolean
  clock: Pick<Clock, 'monotonic'>
  random: () => number
  log: Log
}

export class Holdings implements Holder {
  readonly #deps: Deps
  readonly #turns = new Semaphore(takesAtOnce)
  readonly #served = new Map<InstanceName, Hold>()
  readonly #leaving = new Set<InstanceName>()
  /** Created by a request that opens them itself. */
  readonly #created = new Set<InstanceName>()
  readonly #begun = Promise.withResolvers<undefined>()
  #taking = 0
  #hasBegun = false
  #takesOverUntil = -Infinity
  readonly #over = new AbortController()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Whether requests about the instance are answered here, and under which epoch. */
  standingOf(instance: InstanceName): { standing: Standing; epoch: number } {
    const hold = this.#served.get(instance)
    if (!hold) return { standing: 'not_held', epoch: 0 }
    return { standing: this.#leaving.has(instance) ? 'leaving' : 'held', epoch: hold.epoch }
  }

  /** The instances that this node works for. */
  served(): InstanceName[] {
    return [...this.#served.keys()].filter((instance) => !this.#leaving.has(instance))
  }

  /** How many instances `served` returns. It is asked with every message. */
  get servedCount(): number {
    return this.#served.size - this.#leaving.size
  }

  /** Whether instances of other nodes have come lately. */
  get isTakingOver(): boolean {
    return this.#deps.clock.monotonic() < this.#takesOverUntil
  }

  /** The request that creates this instance opens it itself, as soon as it is taken. */
  expect(instance: InstanceName): Disposable {
    this.#created.add(instance)
    return { [Symbol.dispose]: () => this.#created.delete(instance) }
  }

  /** From now on what is taken connects. */
  begin(): void {
    this.#hasBegun = true
    this.#begun.resolve(undefined)
  }

  async take(hold: Hold, lost: AbortSignal): Promise<void> {
    const { instance } = hold
    if (this.#over.signal.aborted || this.#served.get(instance)?.epoch === hold.epoch) return
    this.#taking++
    try {
      const leave = await this.#turns.enter(lost)
      try {
        await this.#open(hold, lost)
      } finally {
        leave()
      }
    } catch (error) {
      if (!lost.aborted) throw error
    } finally {
      this.#taking--
    }
  }

  async lose(hold: Hold): Promise<void> {
    const { registry, handOver } = this.#deps
    const { instance, epoch } = hold
    // Requests that come while it closes go to the other node.
    if (this.#served.get(instance)?.epoch === epoch) this.#leaving.add(instance)
    const account = registry.find(instance)
    if (account?.hold.epoch === epoch) {
      await handOver.drop(account)
      registry.remove(instance, 'lost')
    }
    this.#forget(hold)
  }

  async giveAway(hold: Hold, to: SeenNode, lost: AbortSignal): Promise<'tried' | 'not_now'> {
    const { registry, handOver, isPinned } = this.#deps
    const { instance, epoch } = hold
    const account = registry.find(instance)
    if (account?.hold.epoch !== epoch || this.#over.signal.aborted) return 'tried'
    if (isPinned(account)) return 'not_now'
    this.#leaving.add(instance)
    const abandon = () => void account[Symbol.asyncDispose]().catch(ignoreRejection)
    lost.addEventListener('abort', abandon, { once: true })
    try {
      await handOver.give(account, to, AbortSignal.any([lost, this.#over.signal]))
      return 'tried'
    } finally {
      lost.removeEventListener('abort', abandon)
    }
  }

  isolated(is: boolean): void {
    if (is) this.#deps.registry.cutOff()
    else this.#deps.registry.goOn()
  }

  /** No instance is taken any more. */
  end(): void {
    this.#over.abort()
  }

  async #open(hold: Hold, lost: AbortSignal): Promise<void> {
    const { registry, instances, clock, log } = this.#deps
    const { instance } = hold
    const row = await instances.find(instance)
    // Deleted meanwhile.
    if (!row || lost.aborted || this.#over.signal.aborted) return
    const account = await registry.open(row)
    this.#served.set(instance, hold)
    if (this.#created.has(instance)) {
      account.forgoBoot()
      return
    }
    if (this.#hasBegun) this.#takesOverUntil = clock.monotonic() + takeOverMs
    const pauseMs = this.#pauseBefore(instance)
    this.#begun.promise
      .then(async () => {
        if (!lost.aborted && !this.#leaving.has(instance)) await account.boot(pauseMs)
      })
      .catch((err: unknown) => {
        if (!lost.aborted) log.error({ err, instance }, 'an instance could not be taken up')
      })
  }

  /** Half of the time is for those whose messages wait, the other half for all others. */
  #pauseBefore(instance: InstanceName): number {
    const { hasWaiting, random } = this.#deps
    const crowd = Math.max(0, this.#taking - unspread)
    const halfMs = Math.min(crowd * spreadMs, mostSpreadMs) / 2
    return Math.round((hasWaiting(instance) ? 0 : halfMs) + random() * halfMs)
  }

  #forget({ instance, epoch }: Hold): void {
    if (this.#served.get(instance)?.epoch !== epoch) return
    this.#served.delete(instance)
    this.#leaving.delete(instance)
  }
}
