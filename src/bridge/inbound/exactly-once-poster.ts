// Posts a message exactly once. It is claimed, with the time and the newest message id known, before the POST; an outcome
// that is not known is searched for until the helpdesk cannot commit it any more, and only then is it posted again.

import { DownstreamError } from '../../core/downstream.ts'
import type { HelpdeskInbox, NewMessage } from '../../core/downstream.ts'
import type { MessageKey } from '../../core/message.ts'
import { backoffMs } from '../../lib/backoff.ts'
import { sleep } from '../../lib/clock.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import type { MappedContent, MappedMessage, MessageIdentity } from '../../storage/stores/messages/message-map-store.ts'
import type { MessageMapStore, Posting } from '../../storage/stores/messages/message-map-store.ts'
import type { OpenConversation } from '../conversations/conversation-directory.ts'
import { PostLimits } from './post-limits.ts'

type Deps = {
  map: MessageMapStore
  epoch: () => number
  newId: () => string
  clock: Clock
  log: Log
  /** How long a POST took, successful or not. */
  onPosted: (ms: number) => void
  /** Only for tests, which show what the wait is good for. */
  lateCommitMs?: number
}

export type PostJob = {
  identity: MessageIdentity
  direction: 'in' | 'echo'
  networkKey: MessageKey
  networkAt: number
  remember: MappedContent | null
  helpdesk: HelpdeskInbox
  conversation: OpenConversation
  replyTo: string | null
  message: Omit<NewMessage, 'inReplyTo' | 'sourceId'>
  /** The inbox row that is done with then; `restKind` keeps it, for what is still to come. */
  rowId: string
  restKind?: string
}

/**
 * What is known of a message between the attempts to post it.
 * begun      the POST that may be made now: time and newest message id are stored
 * uncertain  a POST whose outcome is not known, and until when, by the clock that is never set, it may still turn up
 */
export type PostState = {
  claim?: { id: string; known: MappedMessage[] }
  begun?: Posting
  uncertain?: Posting & { until: number }
}

type Posted = { conversationId: number; messageId: number }
export type PostOutcome = { outcome: 'posted' | 'duplicate'; messageId: number }

/** Chatwoot may commit up to 15 s after it has the whole request. */
const standardLateCommitMs = 20_000
/** Whatever an earlier process has sent is there by now, or never will be. */
const longAgoMs = 3_600_000

export class ExactlyOncePoster {
  readonly #deps: Deps
  /** What the helpdesk has and storage does not know yet, with the instance. */
  readonly #noting = new Map<Promise<void>, string>()
  readonly #gates = new PostLimits()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /**
   * Resolves when the helpdesk has it; that this is noted is not waited for, so that the next message of the chat can be
   * claimed in the same commit. Rejects with the DownstreamError that ended the attempt; `state` then says what the next
   * one must know.
   */
  async post(job: PostJob, state: PostState, signal: AbortSignal): Promise<PostOutcome> {
    if (job.replyTo !== null) await this.flushed(job.identity.instance)
    const { id, known } = (state.claim ??= await this.#claim(job, state))
    const settled = known.find((row) => row.id === id)?.messageId ?? null
    if (settled !== null) return { outcome: 'duplicate', messageId: settled }
    const posted = (await this.#search(job, state, signal)) ?? (await this.#postNow(job, state, signal))
    job.conversation.newest = Math.max(job.conversation.newest, posted.messageId)
    this.#note(job, id, posted, signal)
    return { outcome: 'posted', messageId: posted.messageId }
  }

  /** Resolves when whatever was posted before is noted. */
  async flushed(instance: string): Promise<void> {
    if (this.#noting.size === 0) return
    await Promise.all([...this.#noting].flatMap(([noting, of]) => (of === instance ? [noting] : [])))
  }

  /** The message is set aside: whoever takes it up again must know whether there is something to look for. */
  async setAside({ claim, uncertain }: PostState): Promise<void> {
    if (claim && !uncertain) await this.#deps.map.endPosting(this.#deps.epoch(), claim.id)
  }

  async #claim(job: PostJob, state: PostState): Promise<NonNullable<PostState['claim']>> {
    const { map, epoch, newId, clock } = this.#deps
    const { identity, direction, networkKey, networkAt, remember, conversation, replyTo } = job
    const posting = { conversationId: conversation.id, since: clock.now(), after: conversation.newest }
    const claim = { ...identity, id: newId(), direction, networkKey, networkAt, content: remember, posting }
    const { fresh, known } = await map.claim(epoch(), claim, replyTo ?? identity.networkId)
    const mine = known.find((row) => isSame(row, identity))
    if (!mine) throw new Error('a claimed message must be known')
    if (fresh) state.begun = posting
    else if (mine.posting) state.uncertain = this.#leftBehind(mine.posting)
    return { id: mine.id, known }
  }

  async #postNow(job: PostJob, state: PostState, signal: AbortSignal): Promise<Posted> {
    const posting = await this.#begin(job, state)
    try {
      return await this.#send(job, state.claim?.known ?? [], signal)
    } catch (error) {
      if (!(error instanceof DownstreamError) || !error.mayHaveHappened) throw error
      // Counted from here: the body of a large file takes its time to leave.
      state.uncertain = { ...posting, until: this.#deps.clock.monotonic() + this.#lateCommitMs }
      const found = await this.#search(job, state, signal)
      if (found) return found
      throw error
    }
  }

  async #send(job: PostJob, known: readonly MappedMessage[], signal: AbortSignal): Promise<Posted> {
    const { clock, onPosted } = this.#deps
    const { conversation, helpdesk: inbox, message, identity } = job
    const leave = await this.#gates.enter(identity.destination, message.files.length > 0, signal)
    const began = clock.monotonic()
    try {
      const whole = { ...message, sourceId: identity.networkId, inReplyTo: replyIn(job, known) }
      const { id } = await inbox.post(conversation.id, whole)
      return { conversationId: conversation.id, messageId: id }
    } finally {
      onPosted(clock.monotonic() - began)
      leave()
    }
  }

  /** Time and newest message id are on disk before the POST; a fresh claim has stored them already. */
  async #begin({ conversation }: PostJob, state: PostState): Promise<Posting> {
    const { begun, claim } = state
    delete state.begun
    if (begun?.conversationId === conversation.id) return begun
    const { map, epoch, clock } = this.#deps
    const posting = { conversationId: conversation.id, since: clock.now(), after: conversation.newest }
    await map.beginPosting(epoch(), claim?.id ?? '', posting)
    return posting
  }

  /** What an uncertain POST has left behind, looked for until it cannot come any more; then null. */
  async #search(job: PostJob, state: PostState, signal: AbortSignal): Promise<Posted | null> {
    const { uncertain } = state
    if (!uncertain) return null
    const { clock } = this.#deps
    const { conversationId, until, after } = uncertain
    for (let tries = 0; ; tries++) {
      signal.throwIfAborted()
      const isLast = clock.monotonic() >= until
      const found = await job.helpdesk.findPosted(conversationId, job.identity.networkId, after)
      if (found || isLast) {
        delete state.uncertain
        return found && { conversationId, messageId: found.id }
      }
      const pauseMs = backoffMs(tries, { firstMs: 500, ceilingMs: 4000 })
      await sleep(clock, Math.min(pauseMs, until - clock.monotonic()), signal)
    }
  }

  /** A POST of another process, which may have been busy with it until a moment ago. */
  #leftBehind(posting: Posting): NonNullable<PostState['uncertain']> {
    const { clock } = this.#deps
    const isOver = Math.abs(clock.now() - posting.since) > longAgoMs
    return { ...posting, until: clock.monotonic() + (isOver ? 0 : this.#lateCommitMs) }
  }

  get #lateCommitMs(): number {
    return this.#deps.lateCommitMs ?? standardLateCommitMs
  }

  #note(job: PostJob, id: string, posted: Posted, signal: AbortSignal): void {
    // Stopped before it was stored: whoever takes the message up again finds it at the helpdesk.
    const noting = this.#complete(job, id, posted, signal).catch(() => undefined)
    this.#noting.set(noting, job.identity.instance)
    void noting.then(() => this.#noting.delete(noting))
  }

  /** The helpdesk has it: nothing but storage is needed any more, however long that takes. */
  async #complete(job: PostJob, id: string, posted: Posted, signal: AbortSignal): Promise<void> {
    const { map, epoch, clock, log } = this.#deps
    for (let failures = 0; ; failures++) {
      try {
        if (job.restKind === undefined) await map.complete(epoch(), id, posted, job.rowId)
        else await map.completeInPart(epoch(), id, posted, { id: job.rowId, kind: job.restKind })
        return
      } catch (err) {
        if (signal.aborted) throw err
        log.error({ err, instance: job.identity.instance }, 'a posted message could not be noted yet')
        await sleep(clock, backoffMs(failures, { firstMs: 500, ceilingMs: 30_000 }), signal)
      }
    }
  }
}

/** The answered message, where it stands in the same conversation; what stood in for this very message comes first. */
function replyIn({ identity, conversation, replyTo }: PostJob, known: readonly MappedMessage[]): number | null {
  const here = known.filter(
    ({ destination, conversationId, messageId }) =>
      destination === identity.destination && conversationId === conversation.id && messageId !== null,
  )
  const standIn = here.find(({ networkId, kind }) => networkId === identity.networkId && kind !== identity.kind)
  const answered = here.find(({ networkId }) => networkId === replyTo)
  return (standIn ?? answered)?.messageId ?? null
}

function isSame(row: MappedMessage, identity: MessageIdentity): boolean {
  return (
    row.destination === identity.destination &&
    row.chat === identity.chat &&
    row.sender === identity.sender &&
    row.networkId === identity.networkId &&
    row.kind === identity.kind
  )
}
