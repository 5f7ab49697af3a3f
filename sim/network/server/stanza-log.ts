// A bounded record of stanzas both ways, and of everything the simulator did not understand.
import { describeStanza, type Stanza } from '../wire/stanza.ts'

export type LoggedStanza = {
  at: number
  account: string | undefined
  direction: 'in' | 'out'
  tag: string
  attrs: Record<string, string>
  text: string
}

export class StanzaLog {
  readonly #limit: number
  #entries: LoggedStanza[] = []
  #problems: string[] = []

  constructor(limit: number) {
    this.#limit = limit
  }

  record(direction: 'in' | 'out', account: string | undefined, node: Stanza): void {
    if (this.#limit === 0) return
    const { tag, attrs } = node
    this.#entries.push({ at: Date.now(), account, direction, tag, attrs, text: describeStanza(node) })
    if (this.#entries.length > this.#limit * 2) this.#entries = this.#entries.slice(-this.#limit)
  }

  find(filter: { account?: string | undefined; tag?: string | undefined }): LoggedStanza[] {
    return this.#entries.filter(
      (one) =>
        (filter.account === undefined || one.account === filter.account) &&
        (filter.tag === undefined || one.tag === filter.tag),
    )
  }

  complain(problem: string): void {
    this.#problems.push(problem)
  }

  get problems(): readonly string[] {
    return this.#problems
  }

  /** For a test that provoked them on purpose. */
  takeProblems(): string[] {
    const taken = this.#problems
    this.#problems = []
    return taken
  }
}
