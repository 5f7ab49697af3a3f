// Makes one attempt to deliver an event: resolves its people, composes its text, finds its conversation, posts it.

import type { InboxRow } from '../../storage/stores/messages/inbox-store.ts'
import type { ConversationDirectory } from '../conversations/conversation-directory.ts'
import type { OpenConversation } from '../conversations/conversation-memory.ts'
import type { HelpdeskTarget } from '../conversations/conversation-opener.ts'
import type { EventChat, EventContext, EventContexts } from '../conversations/event-context.ts'
import type { EventComposer } from './compose/event-composer.ts'
import type { EventDraft } from './compose/event-draft.ts'
import type { GroupHeaders } from './compose/group-headers.ts'
import type { DeliveryProgress } from './delivery-progress.ts'
import type { EarlierMessages } from './earlier-messages.ts'
import type { EventContent } from './event-content.ts'
import type { ExactlyOncePoster } from '../posting/exactly-once-poster.ts'
import { postJobOf } from '../posting/post-job.ts'
import type { IgnoredChats } from './ignored-chats.ts'
import type { RowFinisher } from './row-finisher.ts'

type Deps = {
  isIgnored: IgnoredChats
  contexts: Pick<EventContexts, 'contextOf'>
  earlier: Pick<EarlierMessages, 'hasContent' | 'postedBefore' | 'targetOf'>
  composer: Pick<EventComposer, 'compose'>
  headers: GroupHeaders
  directory: Pick<ConversationDirectory, 'conversationFor' | 'existing' | 'earlier' | 'renameGroup'>
  content: Pick<EventContent, 'contentOf'>
  poster: Pick<ExactlyOncePoster, 'post'>
  finisher: RowFinisher
}

export type AttemptJob = {
  row: InboxRow
  chat: EventChat | null
  target: HelpdeskTarget
  progress: DeliveryProgress
}

export class DeliveryAttempt {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Rejects with the failure. `progress` then says what the next attempt must know. */
  async run(job: AttemptJob, signal: AbortSignal): Promise<void> {
    const { isIgnored, contexts, earlier, finisher } = this.#deps
    const { row, chat, target, progress } = job
    if (isIgnored(row.instance, row.event.chat)) return finisher.ignore(row)
    const context = await contexts.contextOf(row.instance, row.event, chat)
    progress.chatId = context.chat.chatId
    if (await earlier.hasContent(row, context)) return finisher.finish(row, 'duplicate')
    const draft = await this.#draftOf(job, context)
    await this.#renameGroup(row, context, target)
    if ('skipped' in draft) return finisher.finish(row, draft.skipped)
    progress.doing = 'conversation'
    const conversation = await this.#conversationOf(row, { context, draft, target })
    const { key: destination } = target.destination
    if (conversation === 'duplicate') return finisher.finishPosted(row, { outcome: conversation, destination }, {})
    if (typeof conversation === 'string') return finisher.finish(row, conversation)
    await this.#post(job, { context, draft, conversation }, signal)
  }

  #draftOf({ row: { instance, event, receivedAt }, target }: AttemptJob, context: EventContext) {
    const { composer, headers } = this.#deps
    const showsHeader = headers.isNeeded(context.chat, target.destination.key, context.senderId)
    return composer.compose({ instance, event, receivedAt, context, showsHeader })
  }

  /**
   * An event about an earlier message stays in the conversation of that message. An event that was posted before opens no
   * conversation.
   */
  async #conversationOf(
    row: InboxRow,
    { context, draft, target }: { context: EventContext; draft: EventDraft; target: HelpdeskTarget },
  ): Promise<OpenConversation | 'no_contact' | 'no_conv' | 'duplicate'> {
    const { event, instance } = row
    const { directory, earlier } = this.#deps
    const { chat } = context
    if ('target' in event) {
      const about = await earlier.targetOf(instance, event.target.id, target.destination.key)
      const id = about?.conversationId ?? null
      const found = id === null ? null : await directory.earlier(id, { chat, mayReopen: draft.opens }, target)
      if (found) return found
    }
    if (!draft.opens) return directory.existing(chat, target)
    let before: OpenConversation | boolean = false
    const mayOpen = async () => {
      before = await earlier.postedBefore(row, context, draft.kind, target)
      return before === false
    }
    const open = await directory.conversationFor(chat, target, mayOpen)
    return open ?? (typeof before === 'object' ? before : 'duplicate')
  }

  async #post(
    { row, target, progress }: AttemptJob,
    found: { context: EventContext; draft: EventDraft; conversation: OpenConversation },
    signal: AbortSignal,
  ): Promise<void> {
    const { content, poster, headers, finisher } = this.#deps
    const { chat, senderId } = found.context
    const { draft, conversation } = found
    progress.doing = draft.counted
    const posted = await content.contentOf(row, draft, progress, signal)
    const endSteps = () => [finisher.endStep(row, posted)]
    const written = { ...draft, ...posted, chatId: chat.chatId, senderId, endSteps }
    const job = postJobOf(row, { target, conversation }, written)
    const { outcome, messageId, flaw } = await poster.post(job, progress.state, signal)
    if (flaw !== undefined) progress.flaw = flaw
    headers.note(chat, target.destination.key, senderId)
    const { key: destination } = target.destination
    await finisher.finishPosted(
      row,
      { outcome, destination },
      {
        conversation: conversation.id,
        message: messageId,
        attempts: progress.failures + 1,
        bytes: posted.files[0]?.size ?? undefined,
      },
    )
  }

  async #renameGroup({ event }: InboxRow, { chat }: EventContext, target: HelpdeskTarget): Promise<void> {
    if (event.kind !== 'group') return
    const subject = event.changes.find((change) => change.change === 'subject')
    if (subject) await this.#deps.directory.renameGroup(chat, subject.subject, target)
  }
}
