// Posts the private note with which an imported conversation begins. A note is also what keeps the helpdesk from greeting: its
// greeting is for the first message of a conversation.

import type { OpenConversation } from '../../bridge/conversations/conversation-memory.ts'
import type { HelpdeskTarget } from '../../bridge/conversations/conversation-opener.ts'
import type { SettingsOf } from '../../core/chosen-settings.ts'
import { DownstreamError } from '../../core/downstream.ts'
import type { NewMessage } from '../../core/helpdesk/message.ts'
import type { InstanceName } from '../../core/ids.ts'
import { backoffMs } from '../../lib/backoff.ts'
import { sleep } from '../../lib/clock.ts'
import type { Clock } from '../../lib/clock.ts'
import type { DatedPost } from './past-message.ts'
import { pastTextsOf } from './past-texts.ts'

type Deps = {
  settingsOf: SettingsOf
  clock: Clock
  /** How long after a lost answer the helpdesk may still create the note. */
  lateCommitMs: number
  /** Has the date of the note corrected, where dates are corrected: a note stands above the messages that it is about. */
  correctDate: (instance: InstanceName, posted: DatedPost) => Promise<void>
}

type NotedImport = {
  instance: InstanceName
  target: HelpdeskTarget
  conversation: OpenConversation
  jobId: string
  oldestAt: number
}

const searchPauses = { firstMs: 500, ceilingMs: 4000 }

export class ImportNotes {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Resolves when the conversation has the note. A note of the same job that is there already is not posted again. */
  async post(noted: NotedImport, signal: AbortSignal): Promise<void> {
    const { instance, target, conversation, jobId } = noted
    const { helpdesk } = target
    const sourceId = `import-${jobId}`
    if (conversation.newest > 0 && (await helpdesk.sourceIds(conversation.id)).has(sourceId)) return
    const messageId = await this.#postOnce(noted, sourceId, signal)
    conversation.newest = Math.max(conversation.newest, messageId)
    const { destination } = target
    const at = noted.oldestAt - 1
    await this.#deps.correctDate(instance, { destination, conversationId: conversation.id, messageId, sourceId, at })
  }

  async #postOnce(noted: NotedImport, sourceId: string, signal: AbortSignal): Promise<number> {
    const { target, conversation } = noted
    try {
      return (await target.helpdesk.post(conversation.id, this.#noteOf(noted, sourceId))).id
    } catch (error) {
      if (!(error instanceof DownstreamError) || !error.mayHaveHappened) throw error
      const found = await this.#search(conversation, sourceId, target, signal)
      if (found) return found.id
      throw error
    }
  }

  #noteOf({ instance, oldestAt }: NotedImport, sourceId: string): NewMessage {
    const { locale } = this.#deps.settingsOf(instance)
    const since = new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeZone: 'UTC' }).format(oldestAt)
    const marks = { sourceId, inReplyTo: null, isEcho: false, private: true, files: [] }
    return { type: 'outgoing', content: pastTextsOf[locale].note(since), ...marks }
  }

  /** The note of a POST without an answer. Looks for it as long as it may still appear. */
  async #search({ id, newest }: OpenConversation, sourceId: string, { helpdesk }: HelpdeskTarget, signal: AbortSignal) {
    const { clock, lateCommitMs } = this.#deps
    const until = clock.monotonic() + lateCommitMs
    for (let tries = 0; ; tries++) {
      signal.throwIfAborted()
      const isLast = clock.monotonic() >= until
      const found = await helpdesk.findPosted(id, sourceId, newest)
      if (found || isLast) return found
      await sleep(clock, Math.min(backoffMs(tries, searchPauses), until - clock.monotonic()), signal)
    }
  }
}
