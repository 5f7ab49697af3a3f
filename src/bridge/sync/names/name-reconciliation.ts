// Brings the names of all known people of an instance to the helpdesk, when an operator asks for it.

import { DownstreamError } from '../../../core/downstream.ts'
import { BridgeError } from '../../../core/errors.ts'
import { HelpdeskDatabaseError } from '../../../core/helpdesk/helpdesk-database.ts'
import type { ChatId, InstanceName } from '../../../core/ids.ts'
import type { PerInstance } from '../../../core/per-instance.ts'
import type { Log } from '../../../lib/log.ts'
import type { PeopleStore } from '../../../storage/stores/people/people-store.ts'
import { refuse, requireTarget } from '../helpdesk-refusals.ts'
import { InstanceRuns } from '../instance-runs.ts'
import type { RealtimeCounts } from '../realtime-counts.ts'
import type { NameTarget, NameUpdate } from './name-update.ts'

type Deps = {
  isOn: boolean
  store: Pick<PeopleStore, 'page'>
  update: Pick<NameUpdate, 'person'>
  targetOf: (instance: InstanceName) => Promise<NameTarget | null>
  counts: Pick<RealtimeCounts, 'count'>
  log: Log
}

/**
 * scanned    people who have a contact, or earlier messages with a header
 * renamed    contacts that have another name now
 * rewritten  messages that have another header now
 * skipped    scanned people of whom nothing was changed
 */
export type Reconciled = { scanned: number; renamed: number; rewritten: number; skipped: number }

type Scanned = { id: ChatId; target: NameTarget }

const pageSize = 200
const width = 4
/** So many failures in a row are no fault of a single contact. */
const mostFailures = 5

export class NameReconciliation implements PerInstance {
  readonly #deps: Deps
  readonly #runs = new InstanceRuns<Reconciled>()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Callers that ask while a reconciliation of the instance runs share its result. */
  run(instance: InstanceName): Promise<Reconciled> {
    return this.#runs.run(instance, (signal) => this.#run(instance, signal))
  }

  leave(instance: InstanceName): void {
    this.#runs.end(instance)
  }

  async #run(instance: InstanceName, signal: AbortSignal): Promise<Reconciled> {
    if (!this.#deps.isOn) {
      const sentence = 'names are not brought to the helpdesk: set SERVICE_RETROACTIVE_NAME_UPDATE to true'
      throw new BridgeError('SERVICE_NAMES_DISABLED', sentence)
    }
    const target = await requireTarget(this.#deps.targetOf(instance))
    const pass = new Pass()
    for (let after = ''; ;) {
      const page = await this.#deps.store.page(instance, after, pageSize)
      const waiting = [...page]
      const work = async () => {
        for (let id = waiting.shift(); id !== undefined; id = waiting.shift()) {
          await this.#one(instance, { id, target }, pass, signal)
        }
      }
      await Promise.all(Array.from({ length: width }, work)).finally(() => {
        waiting.length = 0
      })
      const last = page.at(-1)
      if (last === undefined || page.length < pageSize) return pass.result
      after = last
    }
  }

  async #one(instance: InstanceName, person: Scanned, pass: Pass, signal: AbortSignal): Promise<void> {
    const { update, counts, log } = this.#deps
    try {
      const { result, isShown, renamed, rewritten } = await update.person(instance, { id: person.id }, person.target)
      // The counters of an instance that has left are gone.
      signal.throwIfAborted()
      counts.count(instance, 'retroactive_name', result)
      if (isShown) pass.done(renamed, rewritten)
    } catch (err) {
      signal.throwIfAborted()
      counts.count(instance, 'retroactive_name', 'ds_error')
      if (isAway(err) || pass.failed() >= mostFailures) refuse(err)
      log.warn({ err, instance }, 'a contact keeps its old name for now')
    }
  }
}

/** The sums of one reconciliation. */
class Pass {
  readonly result: Reconciled = { scanned: 0, renamed: 0, rewritten: 0, skipped: 0 }
  #failures = 0

  done(renamed: number, rewritten: number): void {
    this.#failures = 0
    this.result.scanned++
    this.result.renamed += renamed
    this.result.rewritten += rewritten
    if (renamed + rewritten === 0) this.result.skipped++
  }

  /** Returns how many failed in a row. */
  failed(): number {
    this.result.scanned++
    this.result.skipped++
    return ++this.#failures
  }
}

function isAway(error: unknown): boolean {
  return (error instanceof DownstreamError && error.failure === 'destination') || error instanceof HelpdeskDatabaseError
}
