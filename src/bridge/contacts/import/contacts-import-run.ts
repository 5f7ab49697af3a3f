// Runs an import of the address book: one person after the other, at the pace of jobs.

import type { ContactsImportResult } from '../../../core/jobs/contacts-jobs.ts'
import type { ChatId } from '../../../core/ids.ts'
import type { ContactsImportJob } from '../../../core/jobs/job.ts'
import type { JobRunner, RunOptions } from '../../../core/jobs/job-runner.ts'
import type { HelpdeskAttempts, JobTarget } from '../../../jobs/helpdesk-attempts.ts'
import type { HelpdeskPace } from '../../../jobs/helpdesk-pace.ts'
import type { Clock } from '../../../lib/clock.ts'
import type { PeopleStore } from '../../../storage/stores/people/people-store.ts'
import { paceInbox } from './paced-inbox.ts'
import type { PersonImport, PersonOutcome } from './person-import.ts'

type Deps = {
  store: Pick<PeopleStore, 'namedPage' | 'countNamed'>
  persons: Pick<PersonImport, 'run'>
  attempts: Pick<HelpdeskAttempts, 'run'>
  pace: Pick<HelpdeskPace, 'turn'>
  clock: Clock
}

/** So many people are in memory at a time. */
const pageSize = 200

export class ContactsImportRun implements JobRunner<ContactsImportJob> {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /**
   * A job that was interrupted begins again at the first person. People who are done cost no request then: their contacts are
   * known and have their names.
   */
  async run(job: ContactsImportJob, { signal, onProgress }: RunOptions<ContactsImportJob>) {
    const { store, clock } = this.#deps
    const { instance, params } = job
    const named = { savedOnly: params.only === 'saved' }
    const total = await store.countNamed(instance, named)
    const result = { scanned: 0, renamed: 0, created: 0, skipped: 0, errors: 0 }
    const begunAt = clock.monotonic()
    onProgress({ done: 0, total, errors: 0, estimatedEndAt: null })
    for (let after: ChatId = ''; ;) {
      const page = await store.namedPage(instance, { ...named, after, limit: pageSize })
      for (const id of page) {
        signal.throwIfAborted()
        count(result, await this.#import(job, id, signal))
        const { scanned: done, errors } = result
        const leftMs = ((clock.monotonic() - begunAt) / done) * Math.max(total - done, 0)
        const estimatedEndAt = clock.now() + Math.round(leftMs)
        onProgress({ done, total: Math.max(total, done), errors, estimatedEndAt })
      }
      const last = page.at(-1)
      if (last === undefined || page.length < pageSize) return result
      after = last
    }
  }

  #import({ instance, params }: ContactsImportJob, id: ChatId, signal: AbortSignal): Promise<PersonOutcome | 'error'> {
    const { persons, attempts, pace } = this.#deps
    const attempt = ({ destination, helpdesk }: JobTarget): Promise<PersonOutcome | 'error'> => {
      const turn = (requests: number) => pace.turn(destination.key, requests, signal)
      return persons.run({ instance, id, params }, { instance, destination, helpdesk: paceInbox(helpdesk, turn) })
    }
    return attempts.run(
      // A contact that is gone is looked for again.
      { instance, attempt, relocate: () => Promise.resolve(), giveUp: () => Promise.resolve('error') },
      signal,
    )
  }
}

function count(result: ContactsImportResult, outcome: PersonOutcome | 'error'): void {
  result.scanned++
  result[outcome === 'error' ? 'errors' : outcome]++
}
