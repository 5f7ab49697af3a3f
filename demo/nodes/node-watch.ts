// Which node holds which account, and how long the accounts of a node that ended took to reach another one.

import type { BridgeProcess } from '../bridge-process.ts'
import type { Death, NodeView } from '../view.ts'

/** The accounts that each process shows in its metrics. Those that do not answer are missing. */
export type Holdings = ReadonlyMap<BridgeProcess, readonly string[]>

export class NodeWatch {
  readonly #processes: readonly BridgeProcess[]
  #held = new Map<BridgeProcess, readonly string[]>()
  #death: Death | null = null
  #diedAt = 0

  constructor(processes: readonly BridgeProcess[]) {
    this.#processes = processes
  }

  /** Nothing for a service of one process. */
  get view(): NodeView[] {
    if (this.#processes.length < 2) return []
    return this.#processes.map((each, index) => ({
      ...{ number: index + 1, pid: each.pid, isUp: each.isReady },
      accounts: each.isReady ? [...(this.#held.get(each) ?? [])] : [],
    }))
  }

  /** The last node that ended with accounts. */
  get death(): Death | null {
    return this.#death
  }

  /** The process that holds the account; the first one when none is known. */
  holderOf(account: string): BridgeProcess {
    const found = [...this.#held].find(([, accounts]) => accounts.includes(account))?.[0] ?? this.#processes[0]
    if (!found) throw new Error('there is no process')
    return found
  }

  note(seen: Holdings): void {
    for (const [index, each] of this.#processes.entries()) {
      const accounts = this.#held.get(each) ?? []
      if (each.isReady || accounts.length === 0) continue
      this.#held.delete(each)
      this.#death = { node: index + 1, accounts: [...accounts], movedMs: null }
      this.#diedAt = each.endedAt ?? performance.now()
    }
    for (const [each, accounts] of seen) if (each.isReady) this.#held.set(each, accounts)
    this.#noteMoved()
  }

  #noteMoved(): void {
    if (this.#death?.movedMs !== null) return
    const found = new Set([...this.#held.values()].flat())
    if (!this.#death.accounts.every((account) => found.has(account))) return
    this.#death = { ...this.#death, movedMs: Math.round(performance.now() - this.#diedAt) }
  }
}
