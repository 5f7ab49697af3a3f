// Ends the import of a chat: agents have nothing of it unread, its conversation is resolved, and its messages are removed.
// Every step may be made again after a crash.

import type { HelpdeskTarget } from '../../bridge/conversations/conversation-opener.ts'
import type { HoldOf } from '../../core/nodes/hold.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import type { HistoryStore } from '../../storage/stores/history/history-store.ts'
import type { ImportMarks } from '../../storage/stores/history/import-marks.ts'
import type {
  ImportCounts,
  ImportOutcome,
  ImportPlace,
  ImportStore,
} from '../../storage/stores/history/import-store.ts'
import type { HelpdeskAttempts } from '../../jobs/helpdesk-attempts.ts'
import { messageCounts } from './import-meter.ts'
import type { ImportPlaces } from './import-places.ts'
import type { ChatWork } from './import-work.ts'

type Deps = {
  attempts: Pick<HelpdeskAttempts, 'run'>
  places: Pick<ImportPlaces, 'hasLive' | 'showLive'>
  history: Pick<HistoryStore, 'outcomes' | 'removeStatements'>
  imports: Pick<ImportStore, 'end'>
  marks: Pick<ImportMarks, 'end'>
  holdOf: HoldOf
  clock: Clock
  log: Log
}

/** Chats without a conversation have no contact yet. */
export type EndedChat = Omit<ChatWork, 'contact' | 'oldestAt'> & Partial<Pick<ChatWork, 'contact'>>

export class ChatEnding {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Waits while the helpdesk is away. `otherwise` is the outcome of a chat of which no message was posted. */
  async end(work: EndedChat, otherwise: ImportOutcome, signal: AbortSignal): Promise<ImportCounts> {
    const { attempts, log } = this.#deps
    const { instance } = work.job
    const { place } = work.chat
    if (place) {
      await attempts.run(
        {
          instance,
          attempt: (target) => this.close(work, place, target),
          relocate: () => Promise.resolve(),
          giveUp: (err) => {
            log.warn({ err, instance, conversation: place.conversationId }, 'an imported conversation stays as it is')
            return Promise.resolve()
          },
        },
        signal,
      )
    }
    return this.settle(work, otherwise)
  }

  /** Leaves the conversation as agents should find it. */
  async close(work: EndedChat, place: ImportPlace, target: HelpdeskTarget): Promise<void> {
    const isHere = place.destination === target.destination.key
    if (!isHere || place.target === 'open') return
    const { helpdesk } = target
    const { conversationId: id } = place
    if ((await helpdesk.findConversation(id)) === null) return
    if (await this.#hasLive(work, place)) return this.#deps.places.showLive(place, target)
    await helpdesk.markSeen(id)
    await helpdesk.setConversationStatus(id, 'resolved')
    // A live message may have come while the conversation was being resolved.
    if (await this.#hasLive(work, place)) await this.#deps.places.showLive(place, target)
  }

  /** Stores the end of the chat. Messages without an outcome stay kept. */
  async settle({ job, chat }: EndedChat, otherwise: ImportOutcome): Promise<ImportCounts> {
    const { history, imports, marks, holdOf, clock } = this.#deps
    const { jids, place } = chat
    if (place) await marks.end(holdOf(job.instance), place, clock.now())
    const counts = messageCounts(chat.seen, await history.outcomes(job.instance, jids, job.id))
    const outcome = counts.posted > 0 ? 'imported' : otherwise
    await imports.end(job.instance, chat, { outcome, counts }, history.removeStatements(job.instance, jids, job.id))
    return counts
  }

  async #hasLive({ contact, ...work }: EndedChat, place: ImportPlace): Promise<boolean> {
    if (!contact || place.target !== 'chat') return false
    return this.#deps.places.hasLive({ ...work, contact, oldestAt: 0 }, place)
  }
}
