// Puts the callbacks of a conversation in the order of their messages. Chatwoot's workers deliver callbacks concurrently, and
// a later message can overtake an earlier one.
//
// A single callback starts at once. A callback may wait when another one of its conversation came within the last two
// seconds, or when its message is more than a second old: then Chatwoot has a backlog. We ask the helpdesk once which
// messages come before it, and wait for their callbacks: for a second, or for half of the time that is left for the answer.
// The callbacks of a burst share the answer. So only the first callback of a burst can leave too early.
//
// A callback that waits keeps one of Chatwoot's workers busy, and Chatwoot has ten of them by default. When all of them wait
// here, the missing callback cannot come. So only a few callbacks wait unanswered. Further ones are stored and answered
// before their turn, and are sent when it comes.

import type { Destination } from '../../../core/downstream.ts'
import { afterRunning } from '../../../lib/after-running.ts'
import { BoundedMap } from '../../../lib/bounded-map.ts'
import type { Clock } from '../../../lib/clock.ts'
import { ignoreRejection } from '../../../lib/ignore.ts'
import { KeyedLanes } from '../../../lib/queues/keyed-lanes.ts'
import type { Log } from '../../../lib/log.ts'
import type { Route } from '../../conversations/route.ts'
import type { OutboundMetrics } from '../send/outbound-metrics.ts'
import type { SendCommand } from './commands.ts'
import { ConversationTurns } from './conversation-turns.ts'
import type { Turn } from './conversation-turns.ts'
import { LaterTurn } from './later-turn.ts'
import type { MissingCallbacks } from './missing-callbacks.ts'

type Deps = {
  missing: Pick<MissingCallbacks, 'ask' | 'unaccepted'>
  metrics: Pick<OutboundMetrics, 'reordered'>
  clock: Clock
  log: Log
}

type Conversation = {
  key: string
  destination: Destination
  conversationId: number
  turns: ConversationTurns
  /** When the last callback came; monotonic. */
  heardAt: number
  /** A question at the helpdesk. It is `silent` when the answer takes too long. */
  question: 'none' | 'open' | 'silent'
}

/** How long ago the message was written, and how much time is left for the answer to its callback. */
type Times = { writtenMsAgo: number | null; leftMs: number }

const burstMs = 2000
const backlogMs = 1000
const waitMs = 1000
const maxUnanswered = 5
const maxConversations = 10_000
const keptMs = 24 * 3_600_000

export class CallbackOrder {
  readonly #deps: Deps
  readonly #conversations: BoundedMap<Conversation>
  readonly #lanes = new KeyedLanes()
  /** Ends the wait of each callback that waits. */
  readonly #waits = new Set<() => void>()

  constructor(deps: Deps) {
    this.#deps = deps
    this.#conversations = new BoundedMap({ clock: deps.clock, max: maxConversations, ttlMs: keptMs })
  }

  /**
   * Runs `accept` when it is the turn of the message. The messages of a conversation are accepted one after the other. When too
   * many wait, `accept` runs before the turn of the message, and gets that turn.
   */
  inTurn<T>(
    route: Route,
    command: SendCommand,
    { writtenMsAgo, leftMs }: Times,
    accept: (turn?: LaterTurn) => Promise<T>,
  ): Promise<T> {
    const { messageId } = command
    const conversation = this.#conversationOf(route, command)
    if (!conversation || messageId === null) return accept()
    const started = Promise.withResolvers<T>()
    const inLane = (work: () => Promise<T>) => this.#lanes.run(conversation.key, work)
    let onTurn = () => {
      started.resolve(inLane(() => accept()))
    }
    const mayWait = this.#mayWait(conversation, messageId, writtenMsAgo)
    const turnMs = mayWait ? Math.min(waitMs, leftMs / 2) : 0
    const isWaiting = this.#take(conversation, messageId, turnMs, (isReordered) => {
      if (isReordered) this.#deps.metrics.reordered(route.sender.name)
      onTurn()
    })
    if (!isWaiting || this.#waits.size <= maxUnanswered) return started.promise
    const turn = new LaterTurn()
    const accepted = accept(turn)
    onTurn = () => {
      const pass = () => {
        turn.come()
        return accepted
      }
      inLane(pass).catch(ignoreRejection)
    }
    return accepted
  }

  /** The callback of a message came, but the message is not accepted. Others need not wait for it. */
  skip(route: Route, command: SendCommand): void {
    const { messageId } = command
    const conversation = this.#conversationOf(route, command)
    if (conversation && messageId !== null) this.#take(conversation, messageId, 0, () => undefined)
  }

  [Symbol.dispose](): void {
    for (const endWait of this.#waits) endWait()
  }

  #mayWait(conversation: Conversation, messageId: number, writtenMsAgo: number | null): boolean {
    const now = this.#deps.clock.monotonic()
    const { turns, heardAt, question } = conversation
    conversation.heardAt = now
    const isAlone = now - heardAt > burstMs && (writtenMsAgo ?? 0) <= backlogMs
    const isHelpdeskSilent = question === 'silent'
    if (isAlone || isHelpdeskSilent) turns.begin(messageId)
    return !isAlone && !isHelpdeskSilent && turns.isOpen(messageId)
  }

  /** True when the turn has to wait. A turn that may not wait starts together with the turns before it. */
  #take(conversation: Conversation, id: number, maxWaitMs: number, onTurn: Turn['start']): boolean {
    const { turns } = conversation
    const mayWait = maxWaitMs > 0
    const endWait = () => {
      turns.giveUp(id)
      this.#goOn(conversation)
    }
    const cancel = mayWait ? afterRunning(this.#deps.clock, maxWaitMs, endWait) : undefined
    if (mayWait) this.#waits.add(endWait)
    const start = (isReordered: boolean) => {
      cancel?.()
      this.#waits.delete(endWait)
      onTurn(isReordered)
    }
    turns.add({ id, mayWait, start })
    this.#goOn(conversation)
    return this.#waits.has(endWait)
  }

  #goOn(conversation: Conversation): void {
    const { turns } = conversation
    turns.advance()
    if (turns.unasked === undefined || conversation.question !== 'none') return
    void this.#ask(conversation, turns.unasked).then(() => {
      this.#goOn(conversation)
    })
  }

  async #ask(conversation: Conversation, beforeId: number): Promise<void> {
    const { missing, clock, log } = this.#deps
    const { turns } = conversation
    conversation.question = 'open'
    const cancel = afterRunning(clock, waitMs, () => {
      conversation.question = 'silent'
    })
    try {
      const written = await missing.ask(conversation, { afterId: turns.knownUpTo, beforeId })
      // A database that takes long is no silence of the helpdesk: nothing can be accepted meanwhile.
      cancel()
      conversation.question = 'open'
      const unknown = written.filter((id) => turns.isMissing(id))
      turns.answered(Math.max(beforeId, ...written), await missing.unaccepted(conversation, unknown))
    } catch (err) {
      log.debug({ err, conversation: conversation.key }, 'the order of messages could not be asked for')
      turns.unanswered()
    } finally {
      cancel()
      conversation.question = 'none'
    }
  }

  #conversationOf({ destination }: Route, { conversation: { conversationId } }: SendCommand) {
    if (!destination || conversationId === null) return undefined
    const key = `${destination.key}|${conversationId}`
    const known = this.#conversations.get(key) ?? newConversation()
    const conversation: Conversation = Object.assign(known, { key, destination, conversationId })
    // The conversations that are used least are forgotten first.
    this.#conversations.set(key, conversation)
    return conversation
  }
}

function newConversation(): Pick<Conversation, 'turns' | 'heardAt' | 'question'> {
  return { turns: new ConversationTurns(), heardAt: -Infinity, question: 'none' }
}
