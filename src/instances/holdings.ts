// The instances that this node holds: opens those that it gets, closes those that it loses, and gives away those that another
// node is to have. The database decides; this follows it.
//
// taken   → served   when every part has taken the instance; then it connects
// served  → leaving  when another node is to have it: requests go there, running work ends, the connection closes
// leaving → served   when the database says that it is still ours
// any     → lost     when the database says that another node has it

import type { InstanceName } from '../core/ids.ts'
import type { Network } from '../core/network.ts'
import type { Hold } from '../core/nodes/hold.ts'
import type { AssignmentTable, SeenNode } from '../core/nodes/node.ts'
import type { Standing } from '../core/nodes/owners.ts'
import type { Peers } from '../core/nodes/peers.ts'
import { ignoreRejection } from '../lib/ignore.ts'
import type { Log } from '../lib/log.ts'
import { Semaphore } from '../lib/queues/semaphore.ts'
import { runAll } from '../lib/run-all.ts'
import type { Holder } from '../nodes/membership/holder.ts'
import type { InstanceStore } from '../storage/stores/accounts/instance-store.ts'
import type { InstanceRegistry } from './instance-registry.ts'
import type { LinkedAccount } from './linked-account.ts'

/** How many instances are taken side by side. */
const takesAtOnce = 16
/** Spreads the first connects, so that the network does not see one burst. */
const spreadMs = 20
/** After a death the instances of the dead node are to be online again within seconds. */
const mostSpreadMs = 1500

type Deps = {
  registry: InstanceRegistry
  instances: Pick<InstanceStore, 'find'>
  network: Pick<Network, 'release'>
  assignments: Pick<AssignmentTable, 'handOver' | 'find'>
  peers: Pick<Peers, 'look' | 'comingSoon'>
  /** Epoch milliseconds on the clock of the database. */
  databaseNow: () => number
  /** An open pairing or a running import: the instance stays for now. */
  isPinned: (account: LinkedAccount) => boolean
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
  #isOver = false

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

  /** The request that creates this instance opens it itself, as soon as it is taken. */
  expect(instance: InstanceName): Disposable {
    this.#created.add(instance)
    return { [Symbol.dispose]: () => this.#created.delete(instance) }
  }

  /** From now on what is taken connects. */
  begin(): void {
    this.#begun.resolve(undefined)
  }

  async take(hold: Hold, lost: AbortSignal): Promise<void> {
    const { instance } = hold
    if (this.#isOver || this.#served.get(instance)?.epoch === hold.epoch) return
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
    const { registry } = this.#deps
    const { instance, epoch } = hold
    const account = registry.find(instance)
    if (account?.hold.epoch === epoch) {
      await this.#close(account, () => account[Symbol.asyncDispose]())
      registry.remove(instance, 'lost')
    }
    if (this.#served.get(instance)?.epoch === epoch) this.#served.delete(instance)
    this.#leaving.delete(instance)
  }

  async giveAway(hold: Hold, to: SeenNode, lost: AbortSignal): Promise<void> {
    const { registry, assignments, peers, databaseNow, isPinned, log } = this.#deps
    const { instance, epoch } = hold
    const account = registry.find(instance)
    if (!account || account.hold.epoch !== epoch || isPinned(account) || this.#isOver) return
    this.#leaving.add(instance)
    const peer = { id: to.id, address: to.address }
    void peers.comingSoon(peer, instance).catch(ignoreRejection)
    const abandon = () => void account[Symbol.asyncDispose]().catch(ignoreRejection)
    lost.addEventListener('abort', abandon, { once: true })
    try {
      await this.#close(account, () => account.close())
      const given = await assignments.handOver(hold, to.id, databaseNow())
      if (given?.node === to.id) void peers.look(peer).catch(ignoreRejection)
      log.info({ instance, epoch, to: to.name, isGiven: given !== undefined }, 'an instance moves to another node')
    } catch (error) {
      // The answer may be lost after the commit, and then another node opens the session.
      const now = await assignments.find(instance)
      if (now?.node === hold.node && now.epoch === epoch) await this.#openAgain(hold, lost)
      throw error
    } finally {
      lost.removeEventListener('abort', abandon)
    }
  }

  isolated(is: boolean): void {
    for (const account of this.#deps.registry.list()) {
      if (is) account.cutOff()
      else account.goOn()
    }
  }

  /** No instance is taken any more. */
  end(): void {
    this.#isOver = true
  }

  async #open(hold: Hold, lost: AbortSignal): Promise<void> {
    const { registry, instances, random, log } = this.#deps
    const { instance } = hold
    const row = await instances.find(instance)
    // Deleted meanwhile.
    if (!row || lost.aborted || this.#isOver) return
    const account = await registry.open(row)
    this.#served.set(instance, hold)
    if (this.#created.has(instance)) return
    const pauseMs = Math.round(random() * Math.min(this.#taking * spreadMs, mostSpreadMs))
    this.#begun.promise
      .then(() => account.boot(pauseMs))
      .catch((err: unknown) => {
        if (!lost.aborted) log.error({ err, instance }, 'an instance could not be taken up')
      })
  }

  async #openAgain(hold: Hold, lost: AbortSignal): Promise<void> {
    const { instance } = hold
    this.#deps.registry.remove(instance, 'lost')
    this.#served.delete(instance)
    this.#leaving.delete(instance)
    await this.take(hold, lost)
  }

  /** Each step runs also when one before it fails: the session must be closed. */
  #close(account: LinkedAccount, close: () => Promise<void>): Promise<void> {
    const { registry, network } = this.#deps
    const { name, sessionId, pairingSessionId } = account.record
    const release = (id: string | null) => async () => {
      if (id !== null) await network.release(id)
    }
    return runAll([close, release(sessionId), release(pairingSessionId), () => registry.leave(name)])
  }
}
