// Puts the callbacks of a conversation in the order of their messages. Chatwoot's workers deliver callbacks concurrently, and
// a later message can overtake an earlier one.
//
// A single callback starts at once. A callback may wait when another one of its conversation came within the last two
// seconds, or when its message is more than a second old: then Chatwoot has a backlog. We ask the helpdesk once which
// messages come before it, and wait for their callbacks, for a second at most. The callbacks of a burst share the answer.
//
// A callback that waits keeps one of Chatwoot's workers busy, and Chatwoot has ten of them by default. When all of them wait
// here, the missing callback cannot come. So only a few callbacks wait unanswered. Further ones are stored and answered
// before their turn, and are sent when it comes.

import type { Destination, Downstream } from '../../../core/downstream.ts'
import type { InstanceName } from '../../../core/ids.ts'
import { BoundedMap } from '../../../lib/bounded-map.ts'
import type { Clock } from '../../../lib/clock.ts'
import { ignoreRejection } from '../../../lib/ignore.ts'
import { KeyedLanes } from '../../../lib/keyed-lanes.ts'
import type { Log } from '../../../lib/log.ts'
import type { SendContextStore } from '../../../storage/stores/messages/send-context-store.ts'
import type { Route } from '../../conversations/route.ts'
import type { OutboundMetrics } from '../send/outbound-metrics.ts'
import type { SendCommand } from './commands.ts'
import { ConversationTurns } from './conversation-turns.ts'
import { HeldTurn } from './held-turn.ts'

type Deps = {
  downstream: Pick<Downstream, 'helpdesk'>
  store: Pick<SendContextStore, 'acceptedAmong'>
  metrics: Pick<OutboundMetrics, 'reordered'>
  clock: Clock
  log: Log
}

type Conversation = {
  key: string
  destination: Destination
  id: number
  turns: ConversationTurns
  /** When the last callback came; monotonic. */
  heardAt: number
  /** When the helpdesk was asked; null while no question is open. */
  askedAt: number | null
}

const burstMs = 2000
const backlogMs = 1000
const waitMs = 1000
// The callback of an older message was lost, or the webhook was set later.
const recentMs = 3_600_000
const maxUnanswered = 5
const maxConversations = 10_000
const keptMs = 24 * 3_600_000

export class CallbackOrder {
  readonly #deps: Deps
  readonly #conversations: BoundedMap<Conversation>
  readonly #lanes = new KeyedLanes()
  /** The turns that wait: each is released when the service stops. */
  readonly #open = new Set<() => void>()

  constructor(deps: Deps) {
    this.#deps = deps
    this.#conversations = new BoundedMap({ clock: deps.clock, max: maxConversations, ttlMs: keptMs })
  }

  /**
   * Runs `accept` when it is the turn of the message. The messages of a conversation are accepted one after the other. When too
   * many wait, `accept` runs before the turn of the message, and gets that turn.
   */
  inTurn<T>(
    { sender, destination }: Route,
    { messageId, place }: SendCommand,
    writtenMsAgo: number | null,
    accept: (turn?: HeldTurn) => Promise<T>,
  ): Promise<T> {
    if (!destination || messageId === null || place.conversationId === null) return accept()
    const conversation = this.#conversationOf(destination, place.conversationId)
    const mayWait = this.#mayWait(conversation, messageId, writtenMsAgo)
    const started = Promise.withResolvers<T>()
    const inLane = (work: () => Promise<T>) => this.#lanes.run(conversation.key, work)
    let onTurn = () => {
      started.resolve(inLane(() => accept()))
    }
    const isWaiting = this.#take(conversation, sender.name, messageId, mayWait, () => {
      onTurn()
    })
    if (isWaiting && this.#open.size > maxUnanswered) {
      const turn = new HeldTurn()
      const kept = accept(turn)
      started.resolve(kept)
      onTurn = () => {
        const pass = () => {
          turn.come()
          return kept
        }
        inLane(pass).catch(ignoreRejection)
      }
    }
    return started.promise
  }

  /** The callback of a message came, but the message is not accepted. Others need not wait for it. */
  skip({ sender, destination }: Route, { messageId, place }: SendCommand): void {
    if (!destination || messageId === null || place.conversationId === null) return
    const conversation = this.#conversationOf(destination, place.conversationId)
    this.#take(conversation, sender.name, messageId, false, () => undefined)
  }

  [Symbol.dispose](): void {
    for (const release of this.#open) release()
  }

  #mayWait(conversation: Conversation, messageId: number, writtenMsAgo: number | null): boolean {
    const now = this.#deps.clock.monotonic()
    const { turns, heardAt, askedAt } = conversation
    conversation.heardAt = now
    const isAlone = now - heardAt > burstMs && (writtenMsAgo ?? 0) <= backlogMs
    const isHelpdeskSilent = askedAt !== null && now - askedAt >= waitMs
    return !isAlone && !isHelpdeskSilent && messageId > turns.lastStarted
  }

  /** True when the turn has to wait. */
  #take(
    conversation: Conversation,
    instance: InstanceName,
    id: number,
    mayWait: boolean,
    onTurn: () => void,
  ): boolean {
    const { turns } = conversation
    let stopWaiting: (() => void) | undefined
    const start = () => {
      stopWaiting?.()
      onTurn()
    }
    const turn = { id, mayWait, start }
    turns.add(turn)
    this.#goOn(conversation, instance)
    // A turn that may not wait starts together with the turns before it.
    if (!mayWait || !turns.isWaiting(turn)) return false
    stopWaiting = this.#limitWait(() => {
      turns.giveUp(id)
      this.#goOn(conversation, instance)
    })
    return true
  }

  #limitWait(release: () => void): () => void {
    const cancel = this.#deps.clock.after(waitMs, release)
    this.#open.add(release)
    return () => {
      cancel()
      this.#open.delete(release)
    }
  }

  #goOn(conversation: Conversation, instance: InstanceName): void {
    const { turns } = conversation
    const reordered = turns.advance()
    if (reordered > 0) this.#deps.metrics.reordered(instance, reordered)
    if (turns.unasked === undefined || conversation.askedAt !== null) return
    void this.#ask(conversation, turns.unasked).then(() => {
      this.#goOn(conversation, instance)
    })
  }

  async #ask(conversation: Conversation, beforeId: number): Promise<void> {
    const { clock, log } = this.#deps
    const { turns } = conversation
    conversation.askedAt = clock.monotonic()
    try {
      const written = await this.#writtenBefore(conversation, beforeId)
      const missing = written.filter((id) => turns.isMissing(id))
      const accepted = await this.#acceptedAmong(conversation, missing)
      turns.answered(
        Math.max(beforeId, ...written),
        missing.filter((id) => !accepted.has(id)),
      )
    } catch (err) {
      const { destination, id } = conversation
      log.debug({ err, destination: destination.key, conversation: id }, 'the order of messages could not be asked for')
      turns.unanswered()
    } finally {
      conversation.askedAt = null
    }
  }

  async #writtenBefore({ destination, id, turns }: Conversation, beforeId: number): Promise<number[]> {
    const { downstream, clock } = this.#deps
    const range = { afterId: turns.knownUpTo, beforeId }
    const messages = await downstream.helpdesk(destination).outgoingMessages(id, range)
    const since = clock.now() - recentMs
    return messages.filter(({ createdAt }) => createdAt > since).map((message) => message.id)
  }

  /** A message that we have already is not waited for: this process does not know the callbacks that the last one got. */
  async #acceptedAmong({ destination }: Conversation, ids: readonly number[]): Promise<Set<number>> {
    return ids.length === 0 ? new Set() : new Set(await this.#deps.store.acceptedAmong(destination.key, ids))
  }

  #conversationOf(destination: Destination, id: number): Conversation {
    const key = `${destination.key}|${id}`
    const conversation = this.#conversations.get(key) ?? {
      key,
      destination,
      id,
      turns: new ConversationTurns(),
      heardAt: -Infinity,
      askedAt: null,
    }
    conversation.destination = destination
    // The conversations that are used least are forgotten first.
    this.#conversations.set(key, conversation)
    return conversation
  }
}
