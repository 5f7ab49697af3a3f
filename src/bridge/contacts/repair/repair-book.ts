// Counts what a repair has done, and estimates when it will end.

import { mostFindings } from '../../../core/jobs/contacts-jobs.ts'
import type { ContactsProgress, PairOutcome, RepairFinding, RepairResult } from '../../../core/jobs/contacts-jobs.ts'
import type { Clock } from '../../../lib/clock.ts'
import type { ContactPair } from './find-pairs.ts'
import { requestsOfPair } from './pair-merge.ts'

type Facts = {
  scanned: number
  pairs: number
  /** What an earlier run of the same job has merged. */
  before: readonly RepairFinding[]
  clock: Pick<Clock, 'now'>
  onProgress: (progress: ContactsProgress) => void
}

/** At five requests per second. */
const pairMs = requestsOfPair * 200

export class RepairBook {
  readonly #facts: Omit<Facts, 'before'>
  readonly #listed: RepairFinding[] = []
  readonly #counts = { merged: 0, skipped: 0, errors: 0 }
  #done = 0
  #failuresInARow = 0

  constructor(facts: Facts) {
    const { before, ...others } = facts
    // The result is the one of a run without an interruption: the contacts that are gone count, too.
    this.#facts = { ...others, scanned: facts.scanned + before.length, pairs: facts.pairs + before.length }
    this.#listed.push(...before.slice(0, mostFindings))
    this.#counts.merged = before.length
    this.#done = before.length
    this.#tell()
  }

  get failuresInARow(): number {
    return this.#failuresInARow
  }

  get result(): RepairResult {
    const { scanned, pairs } = this.#facts
    return { scanned, pairs, ...this.#counts, listed: this.#listed }
  }

  note({ keep, drop, reason }: ContactPair, outcome: PairOutcome): void {
    this.#done++
    if (outcome === 'merged') this.#counts.merged++
    else if (outcome === 'failed') this.#counts.errors++
    else if (outcome !== 'would_merge') this.#counts.skipped++
    if (outcome === 'failed') this.#failuresInARow++
    else if (outcome === 'merged') this.#failuresInARow = 0
    if (this.#listed.length < mostFindings) this.#listed.push({ keep: keep.id, drop: drop.id, reason, outcome })
    this.#tell()
  }

  /** Contacts and pairs count alike. */
  #tell(): void {
    const { scanned, pairs, clock, onProgress } = this.#facts
    const estimatedEndAt = clock.now() + (pairs - this.#done) * pairMs
    onProgress({ done: scanned + this.#done, total: scanned + pairs, errors: this.#counts.errors, estimatedEndAt })
  }
}
