// Imports one chat: asks the phone for older messages, posts what is kept oldest first, and ends the import of the chat.

import { BridgeError } from '../../core/errors.ts'
import type { HistoryJob } from '../../core/jobs/job.ts'
import type { InstanceName } from '../../core/ids.ts'
import type { ChatContact } from '../../bridge/conversations/conversation-directory.ts'
import type { EventContexts } from '../../bridge/conversations/event-context.ts'
import type { HistoryRow, HistoryStore } from '../../storage/stores/history/history-store.ts'
import type { ImportChat, ImportOutcome } from '../../storage/stores/history/import-store.ts'
import type { PhoneAnswer, PhoneQuestions } from './ask-phone.ts'
import type { ChatEnding } from './end-chat.ts'
import type { ImportMeter } from './import-meter.ts'
import type { RowImport } from './import-row.ts'
import { knownContact } from './known-contact.ts'
import type { ChatWork } from './import-work.ts'

type Deps = {
  history: Pick<HistoryStore, 'pending' | 'outcomes'>
  phone: Pick<PhoneQuestions, 'ask'>
  contexts: Pick<EventContexts, 'knownChat' | 'contextOf'>
  rows: Pick<RowImport, 'run'>
  ending: Pick<ChatEnding, 'end'>
  /** Counts a chat for which the phone did not answer. */
  onUnanswered: (instance: InstanceName) => void
}

type Run = { job: HistoryJob; since: number; meter: ImportMeter; signal: AbortSignal }

/** So many messages are in memory at a time. */
const pageSize = 50

export class ChatImport {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Rejects with a BridgeError when the phone does not answer and the job is about this chat only. */
  async run(chat: ImportChat, { job, since, meter, signal }: Run): Promise<void> {
    const { history, phone, contexts, ending, onUnanswered } = this.#deps
    const { instance } = job
    const answer = await phone.ask({ job, since }, chat, signal)
    if (answer instanceof BridgeError) onUnanswered(instance)
    if (answer instanceof BridgeError && job.type === 'history_chat') throw answer
    meter.begin(chat.chat, chat.seen, await history.outcomes(instance, chat.jids, job.id))
    const work = await this.#importRows(chat, { job, since, meter, signal })
    const contact = work?.contact ?? (await knownContact(contexts, instance, chat.jids))
    const ended = { job, chat, ...(contact && { contact }) }
    const outcome = work?.isRefused ? 'error' : outcomeAfter(answer)
    meter.end(chat.chat, await ending.end(ended, outcome, signal))
  }

  /** Undefined when there was nothing to import. */
  async #importRows(chat: ImportChat, { job, since, meter, signal }: Run) {
    const { history, rows } = this.#deps
    let work: (ChatWork & { isRefused?: true }) | undefined
    for (;;) {
      // Every message of the page before has an outcome.
      const page = await history.pending(job.instance, chat.jids, { since, after: null, limit: pageSize })
      const [first] = page
      if (!first) return work
      const contact = await this.#contactOf(job.instance, chat, first)
      work = { ...work, job, chat, contact, oldestAt: first.sentAt }
      for (const row of page) {
        signal.throwIfAborted()
        // The messages before this one need no conversation any more: most of them may have been bridged live.
        work.oldestAt = row.sentAt
        const outcome = await rows.run(work, row, signal)
        if (outcome === 'no_place') return { ...work, isRefused: true as const }
        meter.note(chat.chat, outcome)
      }
    }
  }

  async #contactOf(instance: InstanceName, chat: ImportChat, { event }: HistoryRow): Promise<ChatContact> {
    const { contexts } = this.#deps
    const known = await knownContact(contexts, instance, chat.jids)
    return known ?? (await contexts.contextOf(instance, event, null)).chat
  }
}

/** The outcome of a chat of which no message was posted. */
function outcomeAfter(answer: PhoneAnswer): ImportOutcome {
  if (answer === 'no_anchor') return 'no_anchor'
  return answer === 'answered' ? 'skipped' : 'error'
}
