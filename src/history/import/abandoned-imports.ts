// Tidies up after jobs that were cancelled or failed in the middle: a conversation that got messages must not stay pending.

import type { EventContexts } from '../../bridge/conversations/event-context.ts'
import type { Destination, HelpdeskInbox } from '../../core/downstream.ts'
import type { InstanceName } from '../../core/ids.ts'
import type { RowScope } from '../../core/nodes/duties.ts'
import { unlessLost } from '../../core/nodes/hold.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import type { ImportChat, ImportStore } from '../../storage/stores/history/import-store.ts'
import { isHistoryJob } from '../../core/jobs/job.ts'
import type { JobStore } from '../../storage/stores/jobs/job-store.ts'
import type { ChatEnding } from './end-chat.ts'
import { knownContact } from './known-contact.ts'

type Deps = {
  contexts: Pick<EventContexts, 'knownChat'>
  imports: Pick<ImportStore, 'abandoned'>
  jobs: Pick<JobStore, 'find'>
  ending: Pick<ChatEnding, 'close' | 'settle'>
  destinations: {
    /** The helpdesk inbox of the instance, held or not; null when there is none. */
    find(
      instance: InstanceName,
    ): Promise<{ instance: InstanceName; destination: Destination; helpdesk: HelpdeskInbox } | null>
  }
  clock: Clock
  log: Log
  /** How long the last POST of a stopped job may still take effect. */
  lateCommitMs: number
}

export class AbandonedImports {
  readonly #deps: Deps
  /** The chats whose failure is in the log. */
  #told = new Set<string>()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** What fails now is tried again by the next call. */
  async tidyUp(scope: RowScope): Promise<void> {
    const failed = new Set<string>()
    for (const chat of await this.#deps.imports.abandoned(scope)) {
      try {
        await unlessLost(this.#end(chat))
      } catch (err) {
        const key = `${chat.jobId}|${chat.chat}`
        failed.add(key)
        if (this.#told.has(key)) continue
        this.#deps.log.warn({ err, instance: chat.instance, job: chat.jobId }, 'an import could not be tidied up yet')
      }
    }
    this.#told = failed
  }

  async #end({ instance, ...chat }: ImportChat & { instance: InstanceName }): Promise<void> {
    const { contexts, jobs, ending, destinations, clock, lateCommitMs } = this.#deps
    const job = await jobs.find(chat.jobId)
    // A message that comes after the conversation is resolved would open it.
    if (!job || !isHistoryJob(job) || Math.abs(clock.now() - (job.endedAt ?? 0)) < lateCommitMs) return
    const contact = await knownContact(contexts, instance, chat.jids)
    const work = { job, chat, ...(contact && { contact }) }
    const target = await destinations.find(instance)
    if (target && chat.place) await ending.close(work, chat.place, { ...target, onStep: () => undefined })
    await ending.settle(work, 'error')
  }
}
