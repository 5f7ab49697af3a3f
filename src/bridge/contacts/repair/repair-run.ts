// Runs a repair: reads all contacts of the helpdesk inbox, finds those that are one person, and merges them.
//
// A run that was interrupted begins again. What was merged before is one contact by now, so nothing is done twice. The log of the
// merges tells what it was, so the result counts it.

import { DownstreamError } from '../../../core/downstream.ts'
import { BridgeError } from '../../../core/errors.ts'
import type { PairOutcome } from '../../../core/jobs/contacts-jobs.ts'
import type { ContactsProgress, RepairResult } from '../../../core/jobs/contacts-jobs.ts'
import type { JobOf } from '../../../core/jobs/job.ts'
import type { JobRunner, RunOptions } from '../../../core/jobs/job-runner.ts'
import type { Clock } from '../../../lib/clock.ts'
import type { Log } from '../../../lib/log.ts'
import type { ContactJoin } from '../../conversations/contact-join.ts'
import type { ContactScan, MovedAddress } from './contact-scan.ts'
import { findPairs } from './find-pairs.ts'
import type { ContactPair } from './find-pairs.ts'
import type { ContactsPlace, HelpdeskRequests } from './helpdesk-requests.ts'
import type { MergeLog } from './merge-log.ts'
import type { PairMerge } from './pair-merge.ts'
import { RepairBook } from './repair-book.ts'

export type RepairJob = JobOf<'contacts_repair'>

type Deps = {
  requests: Pick<HelpdeskRequests, 'find' | 'ask'>
  scan: Pick<ContactScan, 'run'>
  merge: Pick<PairMerge, 'run'>
  mergeLog: Pick<MergeLog, 'madeBefore'>
  join: Pick<ContactJoin, 'note'>
  clock: Pick<Clock, 'now'>
  log: Log
}

/** So many failures in a row are no fault of a single pair. */
const mostFailures = 5

export class RepairRun implements JobRunner<RepairJob> {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  async run(job: RepairJob, { signal, onProgress }: RunOptions<RepairJob>): Promise<RepairResult> {
    const { requests, scan, mergeLog, clock } = this.#deps
    const { dryRun } = job.params
    const place = await explained(requests.find(job.instance, signal))
    const tell = (progress: Partial<ContactsProgress>) => {
      onProgress({ ...{ done: 0, total: 0, errors: 0, estimatedEndAt: null }, ...progress })
    }
    const scanning = scan.run(place, signal, (count) => {
      tell({ done: count, total: count })
    })
    const scanned = await explained(scanning)
    const pairs = await findPairs(scanned.contacts, scanned.stated)
    const before = await mergeLog.madeBefore(job, (id) => scanned.has(id))
    const book = new RepairBook({ scanned: scanned.count, pairs: pairs.length, before, clock, onProgress: tell })
    if (!dryRun) for (const address of scanned.moved) await explained(this.#follow(address, place, signal))
    for (const pair of pairs) {
      signal.throwIfAborted()
      book.note(pair, dryRun ? (pair.refusal ?? 'would_merge') : await this.#merge(job, pair, { place, book, signal }))
    }
    return book.result
  }

  /** An agent merged two contacts, or we did and could not store it. */
  async #follow({ from, to }: MovedAddress, place: ContactsPlace, signal: AbortSignal): Promise<void> {
    const { requests, join } = this.#deps
    const there = await requests.ask(place, ({ helpdesk }) => helpdesk.describeContact(from), signal)
    if (there === null) await join.note(place.instance, place.destination, { keep: to, drop: from })
  }

  async #merge(
    job: RepairJob,
    pair: ContactPair,
    { place, book, signal }: { place: ContactsPlace; book: RepairBook; signal: AbortSignal },
  ): Promise<PairOutcome> {
    const { merge, log } = this.#deps
    if (pair.refusal !== null) return pair.refusal
    try {
      const outcome = await merge.run(job, pair, place, signal)
      log.info({ ...place, contact: pair.keep.id, other: pair.drop.id, outcome }, 'two contacts are one person')
      return outcome
    } catch (error) {
      if (!(error instanceof DownstreamError)) throw error
      if (book.failuresInARow + 1 >= mostFailures) throw refused(error)
      log.warn({ err: error, ...place, contact: pair.keep.id, other: pair.drop.id }, 'two contacts stay two')
      return 'failed'
    }
  }
}

/** A refusal of the helpdesk, in the words that the caller of the job sees. */
function explained<T>(work: Promise<T>): Promise<T> {
  return work.catch((error: unknown) => {
    throw error instanceof DownstreamError ? refused(error) : error
  })
}

function refused(cause: DownstreamError): BridgeError {
  return new BridgeError('SERVICE_HELPDESK_FAILED', `the helpdesk refuses the repair: ${cause.message}`, { cause })
}
