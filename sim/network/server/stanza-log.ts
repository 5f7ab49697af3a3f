// A bounded log of stanzas in both directions, of problems (stanzas that the simulator did not understand) and of
// violations (stanzas that the real network accepts, but takes amiss).
import { EventLog } from '../../event-log.ts'
import { describeStanza, type Stanza } from '../wire/stanza.ts'
import type { SimClock } from '../../shiftable-clock.ts'

export type LoggedStanza = {
  at: number
  account: string | undefined
  direction: 'in' | 'out'
  tag: string
  attrs: Record<string, string>
  node: Stanza
}

export class StanzaLog {
  readonly #limit: number
  readonly #clock: SimClock
  readonly #entries: EventLog<LoggedStanza>
  #problems: string[] = []
  #violations: string[] = []
  /** For the unmodified client library, which breaks these rules. */
  areViolationsAllowed = false

  constructor(limit: number, clock: SimClock) {
    this.#limit = limit
    this.#clock = clock
    this.#entries = new EventLog(
      'the stanza log',
      (one) => `${one.direction} ${describeStanza(one.node).slice(0, 200)}`,
      limit,
    )
  }

  record(direction: 'in' | 'out', account: string | undefined, node: Stanza): void {
    if (this.#limit === 0) return
    const { tag, attrs } = node
    this.#entries.add({ at: this.#clock.now(), account, direction, tag, attrs, node })
  }

  find(filter: { account?: string | undefined; tag?: string | undefined }): LoggedStanza[] {
    return this.#entries.entries.filter(
      (one) =>
        (filter.account === undefined || one.account === filter.account) &&
        (filter.tag === undefined || one.tag === filter.tag),
    )
  }

  /** Resolves with the first stanza from a client that matches. Stanzas that are already in the log count. */
  waitFor(tag: string, matches: (one: LoggedStanza) => boolean, timeoutMs?: number): Promise<LoggedStanza> {
    const isIt = (one: LoggedStanza): boolean => one.direction === 'in' && one.tag === tag && matches(one)
    return this.#entries.waitFor(`<${tag}> from a client`, isIt, timeoutMs)
  }

  /** The listener hears every stanza from now on, until the returned function is called. The log must not be off. */
  subscribe(listener: (one: LoggedStanza) => void): () => void {
    return this.#entries.subscribe(listener)
  }

  complain(problem: string): void {
    this.#problems.push(problem)
  }

  get problems(): readonly string[] {
    return this.#problems
  }

  /** Removes and returns the problems. A test that provokes problems on purpose calls it. */
  takeProblems(): string[] {
    const taken = this.#problems
    this.#problems = []
    return taken
  }

  violate(rule: string): void {
    this.#violations.push(rule)
  }

  get violations(): readonly string[] {
    return this.#violations
  }

  /** Removes and returns the violations. A test that provokes violations on purpose calls it. */
  takeViolations(): string[] {
    const taken = this.#violations
    this.#violations = []
    return taken
  }
}
