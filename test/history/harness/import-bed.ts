// The import of history with a real database, a clock that a test moves, and a scripted helpdesk and phone.

import { createImport } from '../../../src/app/history/create-import.ts'
import { createPosting } from '../../../src/app/history/create-posting.ts'
import { loadConfig } from '../../../src/config/config.ts'
import { chatJid } from '../../../src/core/address.ts'
import type { Destination } from '../../../src/core/downstream.ts'
import { noImportProgress } from '../../../src/core/jobs/history-jobs.ts'
import type { ImportProgress, ImportResult } from '../../../src/core/jobs/history-jobs.ts'
import type { Anchor } from '../../../src/core/history/past-events.ts'
import type { Jid } from '../../../src/core/ids.ts'
import type { MessageEvent, NetworkEvent } from '../../../src/core/message.ts'
import type { NetworkSession } from '../../../src/core/network.ts'
import type { HistoryJob } from '../../../src/core/jobs/job.ts'
import { JobStopped } from '../../../src/core/jobs/job-runner.ts'
import type { StopCause } from '../../../src/core/jobs/job-runner.ts'
import { createRowIds } from '../../../src/lib/row-ids.ts'
import type { EngineName } from '../../../src/storage/database.ts'
import { HistoryStore } from '../../../src/storage/stores/history/history-store.ts'
import { JobStore } from '../../../src/storage/stores/jobs/job-store.ts'
import { BridgeBed, message } from '../../bridge/inbound/harness/bridge-bed.ts'
import { holdOf, holds, holdsAt } from '../../harness/holds.ts'
import { allDuties } from '../../harness/duties.ts'

type Options = { engine?: EngineName; environment?: Record<string, string>; instances?: string[] }
export type BedRun = {
  job: HistoryJob
  /** Settles as the run does. */
  ended: Promise<ImportResult>
  /** The progress that was told last. */
  progress: () => ImportProgress
  stop: (why: StopCause) => void
}

const dayMs = 86_400_000
const lateCommitMs = 20_000

export class ImportBed {
  readonly bridge: BridgeBed
  readonly jobs: JobStore
  readonly history: HistoryStore
  /** What the phone does when it is asked; an instance without a session is not connected. */
  requestHistory: NetworkSession['requestHistory'] = () => Promise.resolve({ seen: 0 })
  isConnected = true
  pairedAt: number | null = null
  isBusy: (destination: string) => boolean = () => false
  readonly counted: string[] = []
  #session: Pick<NetworkSession, 'requestHistory'> = this.#newSession()
  readonly #options: Options
  readonly #newId: () => string
  #parts: ReturnType<typeof createImport>
  #epoch = 1

  private constructor(bridge: BridgeBed, options: Options) {
    this.bridge = bridge
    this.#options = options
    this.#newId = createRowIds(bridge.clock)
    this.jobs = new JobStore(bridge.database, holds.holdOf, holds.nodeHold)
    this.history = new HistoryStore(bridge.database)
    this.#parts = this.#compose()
  }

  static async open(options: Options = {}): Promise<ImportBed> {
    return new ImportBed(await BridgeBed.open(options), options)
  }

  get helpdesk() {
    return this.bridge.helpdesk
  }

  get clock() {
    return this.bridge.clock
  }

  /** Stores events as the phone sends them. The oldest one of each chat becomes its anchor. */
  async keep(events: readonly NetworkEvent[], { instance = 'a', jid }: { instance?: string; jid?: Jid } = {}) {
    const rows = events.map((event, position) => ({
      ...{ id: this.#newId(), chatJid: jid ?? chatJid(event.chat), participant: '', position, event },
    }))
    const anchors = new Map<Jid, Anchor>()
    for (const { chatJid: chat, event } of rows.toSorted((one, other) => other.event.at - one.event.at)) {
      anchors.set(chat, { key: { chat, id: event.id, fromMe: event.fromMe, participant: null }, at: event.at })
    }
    await this.history.keep(holdOf(instance), rows, anchors)
  }

  /** A running job. */
  async job(
    overrides: Partial<Omit<HistoryJob, 'params'>> & { params?: Partial<HistoryJob['params']> } = {},
  ): Promise<HistoryJob> {
    const now = this.clock.now()
    const { params, ...rest } = overrides
    const job: HistoryJob = {
      ...{ id: this.#newId(), type: 'history_all', instance: 'a', status: 'running', progress: noImportProgress },
      params: { chat: null, count: null, timeoutMs: 30_000, days: 7, mediaDays: 0, ...params },
      ...{ createdAt: now, startedAt: now, endedAt: null, error: null, result: null },
      ...rest,
    }
    await this.jobs.create(job)
    return job
  }

  start(job: HistoryJob): BedRun {
    const stop = new AbortController()
    let progress = noImportProgress
    const onProgress = (told: ImportProgress) => {
      progress = told
    }
    const ended = this.#parts.runner.run(job, { signal: stop.signal, onProgress })
    ended.catch(() => undefined)
    return {
      ...{ job, ended, progress: () => progress },
      stop: (why) => {
        stop.abort(new JobStopped(why))
      },
    }
  }

  /** Runs the job to its end while time passes. */
  async run(job: HistoryJob, stepMs?: number): Promise<ImportResult> {
    return this.finish(this.start(job), stepMs)
  }

  async finish({ ended, progress }: BedRun, stepMs = 350): Promise<ImportResult> {
    const state = { isOver: false }
    const over = () => {
      state.isOver = true
    }
    ended.then(over, over)
    for (let steps = 0; !state.isOver; steps++) {
      if (steps > 2000) throw new Error(`the job does not end: ${JSON.stringify(progress())}`)
      await this.bridge.pass(stepMs)
    }
    return ended
  }

  /** The process dies: nothing that it still does is stored. Another one takes over. */
  async restart(run: BedRun): Promise<void> {
    this.#epoch = -1
    run.stop('stopping')
    await run.ended.catch(() => undefined)
    // What is under way in the old process ends before the new one begins.
    await this.bridge.settle(20)
    await this.bridge.restart({ crash: true })
    this.#epoch = 1
    this.#parts = this.#compose()
  }

  /** The ticker that tidies up after stopped jobs comes round. */
  async tidyUp(): Promise<void> {
    await this.bridge.pass(30_000)
  }

  /** The account is connected again, in a new session. */
  reconnect(): void {
    this.#session = this.#newSession()
    this.isConnected = true
  }

  startWorkers(): void {
    for (const worker of this.#parts.workers) worker.start()
  }

  /** What agents see of a conversation: `<`: from the customer, `>`: from the owner's phone, `#`: a note. */
  shown(conversationId: number): string[] {
    return this.helpdesk.messages
      .filter((message) => message.conversationId === conversationId)
      .map(({ type, content, private: isPrivate }) => {
        if (isPrivate) return '#'
        return `${type === 'incoming' ? '<' : '>'} ${content}`
      })
  }

  get conversations() {
    return this.helpdesk.conversations.map(({ id, status, isHistory }) => ({
      ...{ id, status, isHistory: isHistory === true, shown: this.shown(id) },
    }))
  }

  /** The rows of the conversations that are marked as under import. */
  async importing(): Promise<number[]> {
    const { database } = this.bridge
    const rows = await database.read(
      database.query.selectFrom('conversation_chats').select('conversation_id').where('is_importing', '=', 1),
    )
    return rows.map(({ conversation_id }) => conversation_id)
  }

  async keptRows(): Promise<number> {
    const { database } = this.bridge
    return (await database.read(database.query.selectFrom('history_messages').select('id'))).length
  }

  route(instance: string, destination: Destination): void {
    this.bridge.routes.set(instance, destination)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const worker of this.#parts.workers) await worker[Symbol.asyncDispose]()
    await this.bridge[Symbol.asyncDispose]()
  }

  #newSession(): Pick<NetworkSession, 'requestHistory'> {
    return { requestHistory: (...request) => this.requestHistory(...request) }
  }

  #compose(): ReturnType<typeof createImport> {
    const { database, clock, logs, set, metrics } = this.bridge
    const holds = holdsAt(() => this.#epoch)
    const { people, contexts, opener, destinations, posting } = set
    const config = loadConfig({ DATABASE_URL: 'file:./x.db', ...this.#options.environment })
    const base = { config, clock, log: logs.log }
    const { settingsOf } = this.bridge
    const shared = { settingsOf, database, holds, people, contexts, lateCommitMs }
    const { poster, notes } = createPosting(base, {
      ...shared,
      contactOf: (spec, target) => opener.contactOf(spec, target),
      posting,
      dates: { headOf: () => Promise.resolve(null), stepsOf: () => [] },
      metrics,
    })
    return createImport(base, {
      ...{ ...shared, duties: allDuties, opener, destinations, poster, notes },
      sessionOf: () => (this.isConnected ? this.#session : undefined),
      pairedAtOf: () => this.pairedAt,
      isBusy: (destination) => this.isBusy(destination),
      count: (instance, result) => this.counted.push(`${instance} ${result}`),
    })
  }
}

/** A text of yesterday, so many minutes after the same time of that day. */
export function past(bed: ImportBed, text: string, minutes: number, changes: Partial<MessageEvent> = {}): MessageEvent {
  return message(text, { at: bed.clock.now() - dayMs + minutes * 60_000, ...changes })
}
