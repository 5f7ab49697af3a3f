// Decides when the helpdesk is told that one chat types or has stopped.
//
// The helpdesk gets at most one request per 4 s, and one at a time. A state that changes meanwhile waits for the next request;
// the newest state wins. Typing that agents may see always ends: when everyone has stopped, or after a silence. In a group the
// chat types as long as one member types.
//
// idle     nothing is shown; the chat is forgotten when the next request may be made
// asking   a request is under way
// shown    agents may see typing; a silence ends it
// waiting  another state waits for the next request

import type { Clock } from '../../lib/clock.ts'
import type { SyncResults } from './realtime-counts.ts'

export type TypingResult = SyncResults['typing']
/** What became of a request. */
export type ShownResult = Exclude<TypingResult, 'throttled'>

type Deps = {
  /** Shows the state at the helpdesk. Does not reject. */
  show: (isTyping: boolean) => Promise<ShownResult>
  /** Called once for each notice. */
  count: (result: TypingResult) => void
  /** Nothing is shown any more, and the next request may be made at once. */
  onIdle: () => void
  clock: Clock
}

/** A request counts for the notice that causes it. The end of a silence has no notice. */
type StateRequest = { isTyping: boolean; isNotice: boolean }

export const pauseMs = 4000
/** WhatsApp repeats "typing" about every 10 s. */
export const silenceMs = 25_000
/** Chatwoot's dashboard ends typing by itself after 30 s. */
const shownAtMostMs = 30_000

export class ChatTyping {
  readonly #deps: Deps
  readonly #typists = new Set<string>()
  /** What the request under way shows. */
  #asking: boolean | null = null
  #asked: Promise<void> = Promise.resolve()
  /** Agents may see typing. */
  #isShown = false
  #waiting: StateRequest | null = null
  #nextAt = -Infinity
  #silentAt = -Infinity
  #seenUntil = -Infinity
  #cancelTimer: () => void = () => undefined
  #isOver = false

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** `who` types, or has stopped. */
  notice(who: string, isTyping: boolean): void {
    if (this.#isOver) return
    if (isTyping) {
      this.#typists.add(who)
      this.#silentAt = this.#deps.clock.monotonic() + silenceMs
    } else {
      this.#typists.delete(who)
    }
    // Another member of the group still types.
    if (!isTyping && this.#typists.size > 0) this.#deps.count('throttled')
    else this.#want({ isTyping, isNotice: true })
  }

  /** The person has written: the typing is over, whether or not the network says so. */
  wrote(who: string): void {
    if (this.#typists.delete(who) && this.#typists.size === 0) this.#endTyping()
  }

  /** The network says nothing more about this chat. */
  end(): void {
    this.#typists.clear()
    this.#endTyping()
  }

  /** Ends what agents see at once. Nothing more is counted. */
  async finish(): Promise<void> {
    this.#isOver = true
    this.#cancelTimer()
    await this.#asked
    if (this.#isShown) await this.#deps.show(false)
  }

  #endTyping(): void {
    const isOn = this.#waiting?.isTyping ?? this.#asking ?? this.#isShown
    if (isOn && !this.#isOver) this.#want({ isTyping: false, isNotice: false })
  }

  #want(request: StateRequest): void {
    if (this.#asking === null && !this.#waiting && this.#deps.clock.monotonic() >= this.#nextAt) {
      this.#ask(request)
      return
    }
    const shown = this.#asking ?? this.#isShown
    if (this.#waiting && this.#waiting.isTyping !== request.isTyping) this.#dropWaiting()
    if (this.#waiting || shown === request.isTyping) this.#countThrottled(request)
    else this.#waiting = request
    this.#arm()
  }

  #dropWaiting(): void {
    if (this.#waiting) this.#countThrottled(this.#waiting)
    this.#waiting = null
  }

  #countThrottled({ isNotice }: StateRequest): void {
    if (isNotice) this.#deps.count('throttled')
  }

  #ask(request: StateRequest): void {
    this.#cancelTimer()
    this.#asking = request.isTyping
    this.#nextAt = this.#deps.clock.monotonic() + pauseMs
    this.#asked = this.#deps.show(request.isTyping).then((result) => {
      this.#answered(request, result)
    })
  }

  #answered({ isTyping, isNotice }: StateRequest, result: ShownResult): void {
    const { clock, count } = this.#deps
    this.#asking = null
    // The helpdesk may have carried out a request that failed.
    if (isTyping) this.#isShown = result === 'ok' || result === 'ds_error'
    if (isTyping) this.#seenUntil = clock.monotonic() + shownAtMostMs
    if (!isTyping && result !== 'ds_error') this.#isShown = false
    if (this.#isOver) return
    if (isNotice) count(result)
    if (!isTyping && this.#isShown) this.#repeatEnd()
    this.#arm()
  }

  /** The end was not shown. It is repeated for as long as agents may see the typing. */
  #repeatEnd(): void {
    if (this.#nextAt >= this.#seenUntil) this.#isShown = false
    else this.#waiting ??= { isTyping: false, isNotice: false }
  }

  /** The timer for the next step. */
  #arm(): void {
    this.#cancelTimer()
    if (this.#asking !== null || this.#isOver) return
    const isSilenceNext = !this.#waiting && this.#isShown
    const at = isSilenceNext ? this.#silentAt : this.#nextAt
    this.#cancelTimer = this.#deps.clock.after(Math.max(0, at - this.#deps.clock.monotonic()), () => {
      this.#step()
    })
  }

  #step(): void {
    const now = this.#deps.clock.monotonic()
    const request = this.#waiting
    if (request) {
      this.#waiting = null
      this.#ask(request)
    } else if (!this.#isShown) {
      this.#deps.onIdle()
    } else if (now < this.#silentAt) {
      this.#arm()
    } else {
      this.end()
    }
  }
}
