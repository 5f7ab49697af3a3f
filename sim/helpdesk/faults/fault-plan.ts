// The faults that lie in wait: each request is asked about, and a fault strikes as often and as likely as it says.

import type { SeededChoices } from '../seeded-choices.ts'
import type { InboxRow } from '../state/rows.ts'

/** What a fault does to the requests it strikes. */
export type RequestFault =
  /** Any status: before anything happens, or after the row is there. */
  | { kind: 'status'; status: number; afterCommit?: boolean }
  /** No answer within 15 s, then 500. The row is never made, made at once, or made this late. */
  | { kind: 'timeout'; commit: 'never' | 'at_once' | 'late'; commitMs?: readonly [number, number] }
  | { kind: 'slow'; ms: number }
  /** The connection breaks off. */
  | { kind: 'cut'; afterCommit?: boolean }
  | { kind: 'wrong_token' }
  | { kind: 'not_in_account' }
  | { kind: 'account_suspended' }

/** What stays so until it is taken back. */
export type LastingFault = { kind: 'inbox_deleted'; inboxId: number } | { kind: 'refused' }

export type Fault = (RequestFault | LastingFault) & {
  method?: string
  /** A regular expression on the path. */
  path?: RegExp
  /** How often it strikes before it is spent. */
  times?: number
  /** How likely a request is struck, from 0 to 1. */
  probability?: number
  /** Agents are spared unless it says so. */
  strikesAgents?: boolean
}

export type Struck = { method: string; path: string; isAgent: boolean }

/** A fault that lies in wait, and how often it has struck. */
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

  /** Without an id: all of them. */
  clear(id?: number): void {
    this.#active = id === undefined ? [] : this.#active.filter((one) => one.id !== id)
  }

  list(): ActiveFault[] {
    return this.#active.map((one) => ({ ...one }))
  }

  /** The first fault that strikes this request, used up by one. */
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
  // The public API asks for no token.
  if (ofTokens.includes(kind) && request.path.startsWith('/public/')) return false
  if (request.isAgent && !strikesAgents) return false
  // Files are fetched beside the calls a test counts: only who names them means them.
  if (request.path.startsWith('/rails/') && path === undefined) return false
  if (method !== undefined && method.toUpperCase() !== request.method) return false
  return path?.test(request.path) ?? true
}
