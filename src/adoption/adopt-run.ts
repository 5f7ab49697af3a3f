// Runs the job that takes over a helpdesk inbox which another bridge has filled. Sends nothing to the network and posts nothing to
// the helpdesk. A dry run only counts.

import { DownstreamError } from '../core/downstream.ts'
import type { AdoptResult } from '../core/jobs/contacts-jobs.ts'
import type { JobOf } from '../core/jobs/job.ts'
import type { JobRunner, RunOptions } from '../core/jobs/job-runner.ts'
import type { BridgeForms } from '../core/other-bridges/bridge-contact.ts'
import { formsOf } from '../core/other-bridges/other-bridges.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { AdoptionWork, ContactTakeOver } from './adopt-contact.ts'
import type { HelpdeskQuestions } from './helpdesk-questions.ts'
import { readInbox } from './read-inbox.ts'
import type { InboxContact } from './read-inbox.ts'

type AdoptJob = JobOf<'adopt'>

type Deps = {
  questions: Pick<HelpdeskQuestions, 'open'>
  contacts: Pick<ContactTakeOver, 'run'>
  clock: Clock
  log: Log
}

export class AdoptRun implements JobRunner<AdoptJob> {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  async run({ id, instance, params }: AdoptJob, { signal, onProgress }: RunOptions<AdoptJob>): Promise<AdoptResult> {
    const { questions, clock, log } = this.#deps
    const forms = formsOf[params.from]
    const inbox = await questions.open(instance, signal)
    const found = await readInbox(inbox)
    const work = { instance, inbox, forms, isDryRun: params.dryRun, taken: new Set<string>() }
    const result = { ...nothing, scanned: found.length, lastWrittenAt: lastWritten(found, forms) }
    const startedAt = clock.monotonic()
    let done = 0
    for (const contact of found) {
      signal.throwIfAborted()
      await this.#takeOver(contact, work, result)
      const leftMs = ((clock.monotonic() - startedAt) / ++done) * (found.length - done)
      const { errors } = result
      onProgress({ done, total: found.length, errors, estimatedEndAt: Math.round(clock.now() + leftMs) })
    }
    log.info({ job: id, ...result, instance, from: params.from, dry: params.dryRun }, 'a helpdesk inbox was taken over')
    return result
  }

  /** Counts what became of the contact in the result. */
  async #takeOver(contact: InboxContact, work: AdoptionWork, result: AdoptResult): Promise<void> {
    const { sourceId, ...facts } = contact.contact
    const recognised = work.forms.recognise({ ...facts, sourceIds: sourceId === null ? [] : [sourceId] })
    if (recognised.kind === 'own') result.own++
    else if (recognised.kind === 'other') result.unknown++
    else if (!recognised.isMarked) result.unmarked++
    else await this.#count(() => this.#deps.contacts.run(contact, recognised.chat, work), work, result)
  }

  async #count(run: () => ReturnType<ContactTakeOver['run']>, work: AdoptionWork, result: AdoptResult): Promise<void> {
    try {
      const adoption = await run()
      if (adoption === 'doubled') {
        result.doubled++
        return
      }
      if (adoption.isNew) result.adopted++
      else result.unchanged++
      if (adoption.conversation) result.conversations++
      result.messages += adoption.messages
    } catch (error) {
      // One contact that the helpdesk refuses does not end the job.
      if (!(error instanceof DownstreamError)) throw error
      result.errors++
      this.#deps.log.warn({ err: error, instance: work.instance }, 'a contact could not be taken over')
    }
  }
}

const nothing: AdoptResult = {
  ...{ scanned: 0, adopted: 0, unchanged: 0, own: 0, unmarked: 0, unknown: 0, doubled: 0, errors: 0 },
  ...{ conversations: 0, messages: 0, lastWrittenAt: null },
}

/** Only messages with an id of the network are certainly of the other bridge. */
function lastWritten(found: readonly InboxContact[], forms: BridgeForms): number | null {
  const times = found.flatMap(({ conversations }) =>
    conversations.flatMap(({ newestMessage }) =>
      newestMessage?.sourceId != null && forms.messageIdOf(newestMessage.sourceId) !== null ? [newestMessage.at] : [],
    ),
  )
  return times.length === 0 ? null : times.reduce((latest, at) => Math.max(latest, at))
}
