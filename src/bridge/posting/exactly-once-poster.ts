// Posts a message to the helpdesk exactly once: claim, post, search.
//
// 1. Claim. Before the POST we store in the message map that this message is being posted, into which conversation, since when,
//    and the newest message id that we know there. The claim is unique, so a message that came twice is claimed once.
// 2. Post. The POST carries the network's message id as its source id.
// 3. Search. If the outcome of the POST is unknown (time-out, broken connection, crash), we search the conversation for that
//    source id, among the messages after the stored message id. The helpdesk may create the message late, so we repeat the
//    search for `lateCommitMs`. Only when the message is still not there do we post again.
// 4. Complete. One commit stores the id of the posted message, together with the end of its inbox row or of its row of the
//    history. After a crash before that commit the next process finds the claim without a message id, and begins with the search.
//
// A row that comes from a backup may have been posted after the backup, so it begins with one search.
//
// A message can come live and with the history. Its two posts run one after the other. The post of the history leaves a message
// alone that is claimed by a live one: the live post goes on until the message is at the helpdesk.
//
// The next message of the chat does not wait for step 4. Callers that read the message map wait for `flushed`.

import { DownstreamError, originOf } from '../../core/downstream.ts'
import type { DestinationKey, InstanceName } from '../../core/ids.ts'
import type { HoldOf } from '../../core/nodes/hold.ts'
import { backoffMs } from '../../lib/backoff.ts'
import { sleep } from '../../lib/clock.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import { retryUntil } from '../../lib/retry.ts'
import { findAdopted } from '../../storage/stores/messages/adopted-message-store.ts'
import type { MappedMessage, MessageIdentity } from '../../storage/stores/messages/message-map-store.ts'
import type { MessageMapStore, Posting } from '../../storage/stores/messages/message-map-store.ts'
import type { MergeGate } from '../conversations/merge-gate.ts'
import { messageOf } from './message-of-job.ts'
import type { PostJob } from './post-job.ts'
import type { PostLimits } from './post-limits.ts'

type Deps = {
  map: MessageMapStore
  limits: PostLimits
  gate: Pick<MergeGate, 'post'>
  holdOf: HoldOf
  newId: () => string
  clock: Clock
  log: Log
  /** Called with how long a POST took, successful or not. */
  onPosted: (ms: number) => void
  /** Called when the helpdesk has taken a message, with its id there and how long that took. */
  onTaken: (job: PostJob, taken: { messageId: number; ms: number }) => void
  /** Whether the header of a posted message is stored, to be rewritten later. */
  storesHeaders: boolean
  /** How long after a lost answer the helpdesk may still create the message. */
  lateCommitMs: number
}

/**
 * What is kept of a message between the attempts to post it.
 * begun      the POST that may be made now: its time and the newest message id are stored
 * uncertain  a POST of unknown outcome, and until when its message may still appear (on the monotonic clock)
 */
export type PostState = {
  claim?: { id: string; known: MappedMessage[] }
  begun?: Posting
  uncertain?: Posting & { until: number }
}

type Posted = { conversationId: number; messageId: number; flaw?: string }
/**
 * duplicate: the message was posted before, or a live post of it is under way; then `messageId` is null.
 * `flaw` says why the destination must not get another message.
 */
export type PostOutcome =
  | { outcome: 'posted'; messageId: number; flaw?: string }
  | { outcome: 'duplicate'; messageId: number | null; flaw?: never }

/** `stored` resolves when the message is stored as posted. */
type PostResult = { outcome: PostOutcome; stored?: Promise<void> }

/** A POST that an earlier process began longer ago has appeared by now, or never will. One search is enough. */
const longAgoMs = 3_600_000
const storagePauses = { firstMs: 500, ceilingMs: 30_000 }
const searchPauses = { firstMs: 500, ceilingMs: 4000 }

export class ExactlyOncePoster {
  readonly #deps: Deps
  /** Settles with all commits of an instance that are under way after a POST. */
  readonly #completing = new Map<InstanceName, Promise<unknown>>()
  /** The last post of each message until it is stored as posted or has failed. */
  readonly #underWay = new Map<string, Promise<unknown>>()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /**
   * Resolves when the helpdesk has the message, before that is stored: so the next message of the chat can be claimed in the
   * same commit. Rejects with the DownstreamError that ended the attempt. `state` then says what the next attempt must know.
   */
  async post(job: PostJob, state: PostState, signal: AbortSignal): Promise<PostOutcome> {
    const key = `${job.identity.instance}|${job.identity.networkId}`
    const before = this.#underWay.get(key)
    const turn = this.#afterwards(before, () => this.#post(job, state, signal))
    const over = turn.then(
      ({ stored }) => stored,
      () => undefined,
    )
    this.#underWay.set(key, over)
    void over.then(() => {
      if (this.#underWay.get(key) === over) this.#underWay.delete(key)
    })
    return (await turn).outcome
  }

  async #afterwards<T>(before: Promise<unknown> | undefined, work: () => Promise<T>): Promise<T> {
    if (before) await before
    return work()
  }

  async #post(job: PostJob, state: PostState, signal: AbortSignal): Promise<PostResult> {
    if (job.replyTo !== null) await this.flushed(job.identity.instance)
    const { id, known } = (state.claim ??= await this.#claim(job, state))
    const mine = known.find((row) => row.id === id)
    const isLive = job.isPast === true && mine?.readAt === null
    if (mine && (mine.messageId !== null || isLive)) {
      return { outcome: { outcome: 'duplicate', messageId: mine.messageId } }
    }
    const adopted = findAdopted(known, job.identity)
    if (adopted) {
      // From now on its author is known.
      await this.#deps.map.complete(this.#deps.holdOf(job.identity.instance), id, adopted, [])
      return { outcome: { outcome: 'duplicate', messageId: adopted.messageId } }
    }
    const posted = (await this.#search(job, state, signal)) ?? (await this.#postNow(job, state, signal))
    job.conversation.newest = Math.max(job.conversation.newest, posted.messageId)
    const stored = this.#complete(job, id, posted, signal)
    const { messageId, flaw } = posted
    return { outcome: { outcome: 'posted', messageId, ...(flaw !== undefined && { flaw }) }, stored }
  }

  /** Whether several live messages are being posted there at the moment. */
  isBusy(destination: DestinationKey): boolean {
    return this.#deps.limits.isBusy(destination)
  }

  /** Resolves when every message of the instance that was posted before is stored as posted. */
  async flushed(instance: InstanceName): Promise<void> {
    await this.#completing.get(instance)
  }

  /** The row is parked. Unless a POST may still appear, the next attempt need not search. */
  async endPosting(instance: InstanceName, { claim, uncertain }: PostState): Promise<void> {
    if (claim && !uncertain) await this.#deps.map.endPosting(this.#deps.holdOf(instance), claim.id)
  }

  async #claim(job: PostJob, state: PostState): Promise<NonNullable<PostState['claim']>> {
    const { map, holdOf, newId, clock } = this.#deps
    const { identity, direction, networkKey, networkAt, remember, conversation, replyTo, postedAfter } = job
    const posting = { conversationId: conversation.id, since: clock.now(), after: postedAfter ?? conversation.newest }
    const past = job.isPast && { isPast: job.isPast }
    const claim = { ...identity, id: newId(), direction, networkKey, networkAt, content: remember, posting, ...past }
    const { fresh, known } = await map.claim(holdOf(identity.instance), claim, replyTo ?? identity.networkId)
    const mine = known.find((row) => isSame(row, identity))
    if (!mine) throw new Error('a claimed message must be known')
    if (!fresh && mine.posting) state.uncertain = this.#uncertainOf(mine.posting)
    else if (postedAfter !== undefined) state.uncertain = { ...posting, until: clock.monotonic() }
    else if (fresh) state.begun = posting
    return { id: mine.id, known }
  }

  async #postNow(job: PostJob, state: PostState, signal: AbortSignal): Promise<Posted> {
    const posting = await this.#begin(job, state)
    try {
      const send = () => this.#send(job, state.claim?.known ?? [], signal)
      return await this.#deps.gate.post(job.destination.key, job.conversation.id, send, signal)
    } catch (error) {
      if (!(error instanceof DownstreamError) || !error.mayHaveHappened) throw error
      // The time counts from here, because the body of a large file takes long to leave.
      state.uncertain = { ...posting, until: this.#deps.clock.monotonic() + this.#deps.lateCommitMs }
      const found = await this.#search(job, state, signal)
      if (found) return found
      throw error
    }
  }

  async #send(job: PostJob, known: readonly MappedMessage[], signal: AbortSignal): Promise<Posted> {
    const { clock, onPosted, onTaken } = this.#deps
    const { conversation, helpdesk, destination, message } = job
    const where = { destination: destination.key, origin: originOf(destination.baseUrl) }
    const leave = await this.#deps.limits.enter(where, message.files.length > 0, signal, job.isPast)
    const began = clock.monotonic()
    try {
      const { id, flaw } = await helpdesk.post(conversation.id, messageOf(job, known))
      onTaken(job, { messageId: id, ms: clock.monotonic() - began })
      return { conversationId: conversation.id, messageId: id, ...(flaw !== undefined && { flaw }) }
    } finally {
      onPosted(clock.monotonic() - began)
      leave()
    }
  }

  /** Stores the time and the newest message id before the POST. A fresh claim has stored them already. */
  async #begin({ identity, conversation, isPast }: PostJob, state: PostState): Promise<Posting> {
    const { begun, claim } = state
    delete state.begun
    if (begun?.conversationId === conversation.id) return begun
    const { map, holdOf, clock } = this.#deps
    const posting = { conversationId: conversation.id, since: clock.now(), after: conversation.newest }
    await map.beginPosting(holdOf(identity.instance), claim?.id ?? '', posting, isPast)
    return posting
  }

  /** Searches for the message of an uncertain POST. Null when it can no longer appear. */
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
      const pauseMs = backoffMs(tries, searchPauses)
      await sleep(clock, Math.min(pauseMs, until - clock.monotonic()), signal)
    }
  }

  /** A POST of an earlier process, which may have been making it until a moment ago. */
  #uncertainOf(posting: Posting): NonNullable<PostState['uncertain']> {
    const { clock } = this.#deps
    const isOver = Math.abs(clock.now() - posting.since) > longAgoMs
    return { ...posting, until: clock.monotonic() + (isOver ? 0 : this.#deps.lateCommitMs) }
  }

  /** The message is posted. Stores that until it succeeds; a stop leaves it to the search of the next process. */
  #complete(job: PostJob, id: string, posted: Posted, signal: AbortSignal): Promise<void> {
    const { map, holdOf, clock, log, storesHeaders } = this.#deps
    const { identity, header } = job
    const { conversationId, messageId } = posted
    const as = { conversationId, messageId, header: storesHeaders ? header : null }
    const store = async () =>
      map.complete(holdOf(identity.instance), id, as, job.endSteps({ conversationId, messageId }))
    const onFailure = (err: unknown) => {
      log.error({ err, instance: identity.instance }, 'a posted message could not be noted yet')
    }
    // The first try is made even while the instance stops.
    const commit = store().catch(async (err: unknown) => {
      if (signal.aborted) return
      onFailure(err)
      await retryUntil({ clock, signal, pauses: storagePauses, onFailure }, store)
    })
    this.#noteCompleting(identity.instance, commit)
    return commit
  }

  #noteCompleting(instance: InstanceName, commit: Promise<void>): void {
    const before = this.#completing.get(instance)
    const all = before ? before.then(() => commit) : commit
    this.#completing.set(instance, all)
    void all.then(() => {
      if (this.#completing.get(instance) === all) this.#completing.delete(instance)
    })
  }
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
