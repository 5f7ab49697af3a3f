// Waits for the processes of earlier builds before a migration beside which they cannot run.

import { StartError } from '../../lib/start-error.ts'

/** A process that the database names. Its sign changes while it runs. */
export type NamedProcess = { name: string; sign: number }

/** Longer than a lease, and longer than other nodes wait for a beat. */
const silenceMs = 6000
const patienceMs = 60_000

export class OlderProcesses {
  readonly #seen = new Map<string, { sign: number; at: number }>()
  #startedAt: number | undefined

  /** Those that run, as far as can be told at that time. Throws after a minute. */
  running(named: readonly NamedProcess[], atMs: number): NamedProcess[] {
    this.#startedAt ??= atMs
    const running = named.filter((each) => !this.#isSilent(each, atMs))
    if (running.length > 0 && atMs - this.#startedAt >= patienceMs) throw new StartError(stillRuns(running))
    return running
  }

  #isSilent({ name, sign }: NamedProcess, atMs: number): boolean {
    const before = this.#seen.get(name)
    if (before?.sign === sign) return atMs - before.at >= silenceMs
    this.#seen.set(name, { sign, at: atMs })
    return false
  }
}

function stillRuns(running: readonly NamedProcess[]): string {
  const names = running.map(({ name }) => name).join(', ')
  return `an earlier build serves this database and cannot run beside this build: stop ${names}, then start again`
}
