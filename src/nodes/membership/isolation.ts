// Decides whether a node whose beats fail keeps its connections.
//
// certain   → uncertain  when its last beat is older than its own limit: it neither sends nor acknowledges
// uncertain → isolated   when another node may give it up soon: its connections close
// any       → certain    when a beat goes through: it is the same node and holds what it held
//
// A node that knows no other one is never isolated. Another node cannot give this one up before the patience has passed: since
// our last beat, since its own first beat after a gap, or since it told that its beats fail. Until shortly before, we wait.

import type { NodeId } from '../../core/nodes/hold.ts'
import type { Peer, Peers, RenewedAnswer } from '../../core/nodes/peers.ts'
import type { Clock } from '../../lib/clock.ts'
import { ignoreRejection } from '../../lib/ignore.ts'
import { askPeersAfterMs, beatEveryMs, closeMs, longestGapMs, longWatchMs, ownLimitMs } from './times.ts'

type Deps = {
  peers: Pick<Peers, 'renewed'>
  clock: Clock
  /** Called with true when all connections must close, and with false when they may open again. */
  onChange: (isIsolated: boolean) => void
}

const askEveryMs = beatEveryMs
/** A busy machine answers slowly. The next question does not wait for the answer. */
const answerMs = closeMs - askPeersAfterMs

export class Isolation {
  readonly #deps: Deps
  /** What each node was asked last and answered: when, and by when connections must close on its account. */
  readonly #answers = new Map<NodeId, { asked: number; closeAt: number }>()
  #peers: readonly Peer[] = []
  #lastAsked = -Infinity
  #isIsolated = false
  #cancelQuestions: (() => void) | undefined
  #cancelClosing: (() => void) | undefined

  constructor(deps: Deps) {
    this.#deps = deps
  }

  get isIsolated(): boolean {
    return this.#isIsolated
  }

  get isCertain(): boolean {
    return this.#deps.clock.monotonic() < this.#lastAsked + ownLimitMs
  }

  /** A beat that was sent at that time went through. */
  renewed(asked: number, others: readonly Peer[]): void {
    this.pause()
    this.#lastAsked = asked
    this.#peers = others
    this.#set(false)
    if (others.length === 0) return
    for (const { id } of others) this.#answers.set(id, { asked, closeAt: asked + closeMs })
    this.#cancelQuestions = this.#at(asked + askPeersAfterMs, () => {
      this.#askAll()
    })
    this.#scheduleClosing()
  }

  /** The others have given this node up. */
  cutOff(): void {
    this.pause()
    this.#set(true)
  }

  /** Until the next beat goes through, nothing is asked and nothing closes. */
  pause(): void {
    this.#cancelQuestions?.()
    this.#cancelClosing?.()
    this.#answers.clear()
  }

  #askAll(): void {
    for (const peer of this.#peers) void this.#ask(peer)
    this.#cancelQuestions = this.#deps.clock.after(askEveryMs, () => {
      this.#askAll()
    })
  }

  async #ask(peer: Peer): Promise<void> {
    const { peers, clock } = this.#deps
    const asked = clock.monotonic()
    const answer = await peers.renewed(peer, answerMs).catch(ignoreRejection)
    const before = this.#answers.get(peer.id)
    // A later question, or a beat that went through since, counts more.
    if (answer === undefined || before === undefined || before.asked > asked) return
    this.#answers.set(peer.id, { asked, closeAt: asked + safeForMs(answer) })
    this.#scheduleClosing()
  }

  #scheduleClosing(): void {
    this.#cancelClosing?.()
    const first = Math.min(...[...this.#answers.values()].map(({ closeAt }) => closeAt))
    this.#cancelClosing = this.#at(Math.max(first, this.#lastAsked + ownLimitMs), () => {
      this.pause()
      this.#set(true)
    })
  }

  #set(isIsolated: boolean): void {
    if (this.#isIsolated === isIsolated) return
    this.#isIsolated = isIsolated
    this.#deps.onChange(isIsolated)
  }

  #at(time: number, work: () => void): () => void {
    return this.#deps.clock.after(Math.max(0, time - this.#deps.clock.monotonic()), work)
  }
}

/** For how long after the question connections may stay open, as far as that node is concerned. */
function safeForMs({ beatAgeMs, watchedMs }: RenewedAnswer): number {
  // It begins to watch anew when its beats go through again.
  if (beatAgeMs > longestGapMs) return closeMs
  return watchedMs > longWatchMs ? 0 : closeMs - watchedMs
}
