// Ends an instance in this process, and gives it to another node. All of it ends here before another node may open it:
//
// begun  → rested  the work under way has ended, or takes too long: its rows go on under their ids at the other node
// rested → closed  the connection is closed, and its last keys and its record are stored
// closed → left    no part remembers the instance, and what the parts count is stored
// left   → given   one commit names the other node

import type { Network } from '../core/network.ts'
import type { Hold } from '../core/nodes/hold.ts'
import type { Assignment, AssignmentTable, SeenNode } from '../core/nodes/node.ts'
import type { Peers } from '../core/nodes/peers.ts'
import { sleep } from '../lib/clock.ts'
import type { Clock } from '../lib/clock.ts'
import { ignoreRejection } from '../lib/ignore.ts'
import type { Log } from '../lib/log.ts'
import { retryUntil } from '../lib/retry.ts'
import { runAll } from '../lib/run-all.ts'
import type { InstanceRegistry } from './instance-registry.ts'
import type { LinkedAccount } from './linked-account.ts'

export type HandOverStep = 'begun' | 'rested' | 'closed' | 'left' | 'given'

/** How long sends and posts under way may take. The account receives meanwhile. */
const restMs = 1500
const mostFailures = 5
const pauses = { firstMs: 100, ceilingMs: 2000 }

type Deps = {
  registry: Pick<InstanceRegistry, 'rest' | 'leave'>
  network: Pick<Network, 'release'>
  assignments: Pick<AssignmentTable, 'handOver'>
  peers: Pick<Peers, 'look'>
  /** Its time is that of the database. */
  clock: Clock
  /** Called after each step; a test kills the process there. */
  onStep: (step: HandOverStep) => Promise<void>
  log: Log
}

export class HandOver {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Resolves when the instance is not ours any more, or when the signal aborts. */
  async give(account: LinkedAccount, to: SeenNode, signal: AbortSignal): Promise<void> {
    const { peers, onStep, log } = this.#deps
    const { instance, epoch } = account.hold
    await onStep('begun')
    await this.#rest(account)
    await onStep('rested')
    await this.#close(account, signal)
    const given = await this.#commit(account.hold, to, signal)
    await onStep('given')
    if (given?.node === to.id) void peers.look({ id: to.id, address: to.address }).catch(ignoreRejection)
    log.info({ instance, epoch, to: to.name, isGiven: given !== undefined }, 'an instance moves to another node')
  }

  /** Another node has the instance: nothing is stored any more. */
  drop(account: LinkedAccount): Promise<void> {
    return this.#end(
      account,
      () => account[Symbol.asyncDispose](),
      () => Promise.resolve(),
    )
  }

  async #rest({ record: { name } }: LinkedAccount): Promise<void> {
    const { registry, clock } = this.#deps
    const over = new AbortController()
    await Promise.race([registry.rest(name), sleep(clock, restMs, over.signal)])
    over.abort()
  }

  /** What cannot be stored is given up after some attempts, like at the death of a node: the instance must go on. */
  async #close(account: LinkedAccount, signal: AbortSignal): Promise<void> {
    const { clock, onStep, log } = this.#deps
    const onFailure = (err: unknown, failures: number) => {
      log.warn({ err, instance: account.record.name, failures }, 'an instance that moves could not be closed properly')
      if (failures >= mostFailures) throw err
    }
    const end = () => this.#end(account, () => account.close(), onStep)
    await retryUntil({ clock, signal, pauses, onFailure }, end).catch(ignoreRejection)
  }

  /** Each step runs also when one before it fails: the session must be closed. */
  #end(account: LinkedAccount, close: () => Promise<void>, onStep: Deps['onStep']): Promise<void> {
    const { registry, network } = this.#deps
    const { name, sessionId, pairingSessionId } = account.record
    const release = (id: string | null) => async () => {
      if (id !== null) await network.release(id)
    }
    return runAll([
      ...[close, release(sessionId), release(pairingSessionId), () => onStep('closed')],
      ...[() => registry.leave(name), () => onStep('left')],
    ])
  }

  /**
   * Repeats the commit until it is answered. When it went through and its answer was lost, the hold is stale, and the repetition
   * changes nothing.
   */
  async #commit(hold: Hold, to: SeenNode, signal: AbortSignal): Promise<Assignment | undefined> {
    const { assignments, clock, log } = this.#deps
    const { instance, epoch } = hold
    const onFailure = (err: unknown) => {
      log.warn({ err, instance, epoch }, 'an instance could not be given away yet')
    }
    const given = await retryUntil({ clock, signal, pauses, onFailure }, () =>
      assignments.handOver(hold, to.id, clock.now()),
    )
    return given?.value
  }
}
