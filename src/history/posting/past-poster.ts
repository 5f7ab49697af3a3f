// Posts one message of the history and stores its outcome, unless the helpdesk has the message already.
//
// posted    the helpdesk has taken it
// skipped   a live message or an earlier import has brought it, or a live post of it is under way
// filtered  agents are not shown such an event
// error     the helpdesk refuses it for good, and even a notice in its place

import type { OpenConversation } from '../../bridge/conversations/conversation-memory.ts'
import type { EventDraft } from '../../bridge/inbound/compose/event-draft.ts'
import type { ExactlyOncePoster, PostState } from '../../bridge/posting/exactly-once-poster.ts'
import { postJobOf } from '../../bridge/posting/post-job.ts'
import type { PostJob } from '../../bridge/posting/post-job.ts'
import { DownstreamError } from '../../core/downstream.ts'
import type { InstanceName } from '../../core/ids.ts'
import type { Log } from '../../lib/log.ts'
import type { HistoryOutcome } from '../../storage/schema/history.ts'
import { mayBeSender } from '../../storage/stores/messages/adopted-message-store.ts'
import type { MessageMapStore } from '../../storage/stores/messages/message-map-store.ts'
import type { PastContent, PastFile, PastStage } from './past-content.ts'
import type { PastDraft, PastDrafts } from './past-drafts.ts'
import type { PastDates, PastInto, PastMessage } from './past-message.ts'
import type { PastOutcomes } from './past-outcomes.ts'
import type { PastSearch } from './past-search.ts'

type Deps = {
  drafts: Pick<PastDrafts, 'draftOf'>
  map: Pick<MessageMapStore, 'findByNetworkId'>
  search: Pick<PastSearch, 'has'>
  content: Pick<PastContent, 'fileOf' | 'contentOf'>
  poster: Pick<ExactlyOncePoster, 'post' | 'flushed' | 'endPosting'>
  outcomes: Pick<PastOutcomes, 'postedStep' | 'posted' | 'end'>
  dates: PastDates
  log: Log
}

type Composed = { context: PastDraft['context']; draft: EventDraft; head: string | null; file: PastFile }

const stages: readonly PastStage[] = ['whole', 'bare', 'notice']

export class PastPoster {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Resolves when the outcome is stored. Rejects with a DownstreamError when a later attempt may succeed. */
  async post(row: PastMessage, into: PastInto, signal: AbortSignal): Promise<HistoryOutcome> {
    const { drafts, content, outcomes, dates } = this.#deps
    const { event } = row
    const { instance, target } = into
    const { context, draft } = await drafts.draftOf(instance, event)
    if (!draft) return outcomes.end(row, into, 'filtered')
    if (await this.#isThere(row, into, { context, draft })) return outcomes.end(row, into, 'skipped')
    const head = await dates.headOf({ instance, destination: target.destination, at: event.at })
    const file = await content.fileOf({ instance, event, media: draft.media }, into.mediaSince, signal)
    try {
      return await this.#postReduced(row, into, { context, draft, head, file }, signal)
    } finally {
      if (typeof file === 'object') await file[Symbol.asyncDispose]()
    }
  }

  async #isThere(
    { event }: PastMessage,
    { instance, jobId, target }: PastInto,
    { context: { chat, senderId }, draft }: PastDraft & { draft: EventDraft },
  ): Promise<boolean> {
    const known = await this.#deps.map.findByNetworkId(instance, [event.id])
    const here = known.filter((each) => each.destination === target.destination.key && each.chat === chat.chatId)
    // The map knows the message, or a notice that stands for it, so the helpdesk need not be asked.
    if (here.length === 0) return this.#deps.search.has(event.id, { jobId, chat, target, at: event.at })
    const same = here.find(({ sender, kind }) => mayBeSender(sender, senderId) && kind === draft.kind)
    return same !== undefined && (same.messageId !== null || same.readAt === null)
  }

  /** A message that is refused for good is posted with less: first without its file, then as a notice. */
  async #postReduced(row: PastMessage, into: PastInto, composed: Composed, signal: AbortSignal) {
    const { outcomes, poster, log } = this.#deps
    const conversation = await into.conversation()
    const state: PostState = {}
    for (const stage of stages) {
      if (stage === 'bare' && typeof composed.file !== 'object') continue
      const job = this.#jobOf(row, into, composed, conversation, stage)
      try {
        const { outcome } = await poster.post(job, state, signal)
        // The caller reads the rows without an outcome next.
        await poster.flushed(into.instance)
        return outcome === 'posted' ? outcomes.posted(into) : await outcomes.end(row, into, 'skipped')
      } catch (error) {
        if (!(error instanceof DownstreamError)) throw error
        if (error.failure !== 'permanent') {
          await this.#leave(into.instance, state, error)
          throw error
        }
        log.warn({ err: error, instance: into.instance, stage }, 'the helpdesk refuses a message of the history')
      }
    }
    await poster.endPosting(into.instance, state)
    return outcomes.end(row, into, 'error')
  }

  #jobOf(
    row: PastMessage,
    { instance, jobId, target }: PastInto,
    { context, draft, head, file }: Composed,
    conversation: OpenConversation,
    stage: PastStage,
  ): PostJob {
    const { content, outcomes, dates } = this.#deps
    const { event } = row
    const { destination } = target
    const endSteps: PostJob['endSteps'] = (posted) => [
      outcomes.postedStep(row, jobId),
      ...dates.stepsOf({ ...posted, destination, sourceId: event.id, at: event.at }),
    ]
    const job = postJobOf(
      { instance, event },
      { target, conversation },
      {
        ...draft,
        ...content.contentOf(draft, { stage, file, head }),
        // Only a header at the very beginning of a text can be rewritten later.
        header: head === null ? draft.header : null,
        chatId: context.chat.chatId,
        senderId: context.senderId,
        endSteps,
      },
    )
    return { ...job, isPast: true, message: { ...job.message, sentAt: event.at } }
  }

  /** The next attempt claims the message again: a live post of it may have come first. It need not search without reason. */
  async #leave(instance: InstanceName, state: PostState, { failure }: DownstreamError): Promise<void> {
    // With the conversation every message is gone that a POST may have left there.
    if (failure === 'gone') delete state.uncertain
    await this.#deps.poster.endPosting(instance, state)
  }
}
