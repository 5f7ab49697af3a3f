// Jobs on a real database, with a scripted runner, a clock of the test, and storage that can go away.

import type { ImportParams } from '../../../src/core/jobs/history-jobs.ts'
import { Jobs } from '../../../src/jobs/jobs.ts'
import { historyDisabledSentence } from '../../../src/core/history/history-disabled.ts'
import type { HistoryJobType } from '../../../src/core/jobs/history-jobs.ts'
import type { Job, JobOrder } from '../../../src/core/jobs/job.ts'
import { createRowIds } from '../../../src/lib/row-ids.ts'
import type { Database } from '../../../src/storage/database.ts'
import { StorageError } from '../../../src/storage/engine/statement.ts'
import { JobStore } from '../../../src/storage/stores/jobs/job-store.ts'
import { LeaseStore } from '../../../src/storage/stores/lease-store.ts'
import { newDatabase } from '../../harness/databases.ts'
import { silentLog } from '../../harness/logs.ts'
import { ManualClock } from '../../harness/manual-clock.ts'
import { ScriptedRunner } from './scripted-runner.ts'
import { holds } from '../../harness/holds.ts'

const params: ImportParams = { chat: null, count: 50, timeoutMs: 30_000, days: 7, mediaDays: 0 }
export const all: JobOrder<HistoryJobType> = { type: 'history_all', params }

export const contactsImport: JobOrder = { type: 'contacts_import', params: { only: null, create: true } }

type ContactsImportJob = Extract<Job, { type: 'contacts_import' }>

export function chatOrder(...chat: string[]): JobOrder {
  return { type: 'history_chat', params: { ...params, chat } }
}

/** A store that fails while `isAway` is set. `losesAnswers`: it writes first. */
class FlakyJobStore extends JobStore {
  isAway = false
  losesAnswers = false
  failures = 0
  /** A new job is stored after this. */
  mayCreate: Promise<unknown> = Promise.resolve()

  override async create(...all: Parameters<JobStore['create']>): Promise<void> {
    await this.mayCreate
    await this.#pass(() => super.create(...all))
  }

  override begin(...all: Parameters<JobStore['begin']>): Promise<boolean> {
    return this.#pass(() => super.begin(...all))
  }

  override end(...all: Parameters<JobStore['end']>): Promise<boolean> {
    return this.#pass(() => super.end(...all))
  }

  /** A test sees what is left behind until storage is back. */
  override async remove(...all: Parameters<JobStore['remove']>): Promise<void> {
    if (this.isAway) throw this.#fail()
    await super.remove(...all)
  }

  async #pass<T>(write: () => Promise<T>): Promise<T> {
    if (!this.isAway) return write()
    if (this.losesAnswers) await write()
    throw this.#fail()
  }

  #fail(): StorageError {
    this.failures++
    return new StorageError('unavailable', 'storage is away')
  }
}

/** `isOn` is false while imports of history are switched off. */
type Options = { isOn?: boolean; instances?: readonly string[] }

export class JobsBed {
  readonly clock = new ManualClock()
  readonly runner = new ScriptedRunner()
  /** Runs imports of contacts. */
  readonly contacts = new ScriptedRunner<ContactsImportJob>()
  readonly store: FlakyJobStore
  readonly jobs: Jobs

  constructor(database: Database, { isOn = true }: Options = {}) {
    const { clock } = this
    const history = isOn ? this.runner : { off: historyDisabledSentence }
    const runners = {
      history_all: history,
      history_chat: history,
      history_pairing: history,
      contacts_import: this.contacts,
    }
    this.store = new FlakyJobStore(database, holds.holdOf, holds.nodeHold)
    this.jobs = new Jobs({ store: this.store, runners, clock, log: silentLog, newId: createRowIds(clock) })
  }

  /** The jobs of a process that starts. */
  static async start(database: Database, options: Options = {}): Promise<JobsBed> {
    const bed = new JobsBed(database, options)
    for (const instance of options.instances ?? ['shop']) await bed.jobs.take(instance)
    bed.jobs.start()
    return bed
  }

  /** The status of each job, oldest first. */
  async statuses(): Promise<string[]> {
    return (await this.store.list(100)).map(({ status }) => status).reverse()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.jobs[Symbol.asyncDispose]()
  }
}

export async function openDatabase(engine: 'sqlite' | 'postgres') {
  const opened = await newDatabase(engine)
  await new LeaseStore(opened.database).acquire('test', 600_000)
  return opened
}
