// Keeps the faults and decides which fault strikes a request, by its count and its probability.

import type { SeededChoices } from '../seeded-choices.ts'
import type { InboxRow } from '../state/rows.ts'

/** Faults that strike requests. */
export type RequestFault =
  /** Answers with this status, without doing the work or after the commit. */
  | { kind: 'status'; status: number; afterCommit?: boolean }
  /** Answers with this status and this body, without doing the work. */
  | { kind: 'answer'; status: number; body: object }
  /** Answers 500 after 15 s. The row is never created, created at once, or created after this delay. */
  | { kind: 'timeout'; commit: 'never' | 'at_once' | 'late'; commitMs?: readonly [number, number] }
  | { kind: 'slow'; ms: number }
  /** Cuts the connection. */
  | { kind: 'cut'; afterCommit?: boolean }
  | { kind: 'wrong_token' }
  | { kind: 'not_in_account' }
  | { kind: 'account_suspended' }

/** Faults that last until they are cleared. */
type LastingFault = { kind: 'inbox_deleted'; inboxId: number } | { kind: 'refused' }

export type Fault = (RequestFault | LastingFault) & {
  method?: string
  /** Matches the path. */
  path?: RegExp
  /** How many requests the fault strikes. The default is no limit. */
  times?: number
  /** The probability that a request is struck, from 0 to 1. */
  probability?: number
  /** The default spares the requests of agents. */
  strikesAgents?: boolean
}

export type Struck = { method: string; path: string; isAgent: boolean }

/** A fault with the number of its past strikes. */
export type ActiveFault = { id: number; fault: Fault; left: number; struck: number }

export class FaultPlan {
  readonly #choices: SeededChoices
  #active: ActiveFault[] = []
  #lastId = 0
  #asked = 0

  constructor(choices: SeededChoices) {
    this.#choices = choices
  }

  add(fault: Fault): number {
    this.#active.push({ id: ++this.#lastId, fault, left: fault.times ?? Infinity, struck: 0 })
    return this.#lastId
  }

  /** Clears one fault, or all without an id. */
  clear(id?: number): void {
    this.#active = id === undefined ? [] : this.#active.filter((one) => one.id !== id)
  }

  list(): ActiveFault[] {
    return this.#active.map((one) => ({ ...one }))
  }

  /** Uses up one strike of the first fault that strikes this request. */
  strike(request: Struck): RequestFault | undefined {
    const asked = ++this.#asked
    for (const active of this.#active) {
      if (!isForRequests(active.fault) || !matches(active.fault, request)) continue
      if (!this.#choices.chance(active.fault.probability ?? 1, 'fault', active.id, asked)) continue
      active.left -= 1
      active.struck += 1
      if (active.left <= 0) this.clear(active.id)
      return active.fault
    }
    return undefined
  }

  hides(inbox: InboxRow): boolean {
    return this.#active.some(({ fault }) => fault.kind === 'inbox_deleted' && fault.inboxId === inbox.id)
  }

  get refusesConnections(): boolean {
    return this.#active.some(({ fault }) => fault.kind === 'refused')
  }
}

function isForRequests(fault: Fault): fault is Fault & RequestFault {
  return fault.kind !== 'inbox_deleted' && fault.kind !== 'refused'
}

const ofTokens: readonly Fault['kind'][] = ['wrong_token', 'not_in_account', 'account_suspended']

function matches({ kind, method, path, strikesAgents = false }: Fault, request: Struck): boolean {
  // The public API needs no token.
  if (ofTokens.includes(kind) && request.path.startsWith('/public/')) return false
  if (request.isAgent && !strikesAgents) return false
  // Downloads of files come in addition to the calls that a test counts, so only a fault with a path strikes them.
  if (request.path.startsWith('/rails/') && path === undefined) return false
  if (method !== undefined && method.toUpperCase() !== request.method) return false
  return path?.test(request.path) ?? true
}
