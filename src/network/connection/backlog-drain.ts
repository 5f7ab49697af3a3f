// Takes the backlog from the server, one window at a time, and notices its end.
//
// The server delivers as many stanzas as the client asks for, and then nothing until the client asks again. New messages
// wait behind the backlog on the server, so a client that stops asking gets nothing any more. The next window is asked for
// when the last one has come and most of it is stored: this bounds the memory. The server announces the end of the backlog.
// Without an announcement the backlog counts as over when nothing of it has come or was stored for a while. The service
// goes on asking, because the server may only have paused, but after longer pauses: a server that never announces the end
// would get requests for as long as the connection lives.

import type { Clock } from '../../lib/clock.ts'
import { CountedTime } from '../../lib/counted-time.ts'
import { ignoreRejection } from '../../lib/ignore.ts'
import type { BinaryNode, WASocket } from '../library/library.ts'

const windowSize = 100
/** The next window is not asked for while more messages than this are not stored. */
const mostUnstored = 50
/** The shortest time from one request to the next. */
const pauseMs = 100
/** How long the first window may take before the service asks again. Later windows may take twice as long as the last one. */
const firstPatienceMs = 1000
/** The longest time from one request to the next, when nothing comes. A server may give less than it was asked for. */
const longestPauseMs = 5000
/** The same when the backlog counts as over. */
const longestPauseAfterMs = 60_000
/** How often the service looks whether it must ask again, when the backlog counts as over and nothing comes. */
const lookAfterMs = 1000
/** After this time without progress the account does not wait for the end any longer. */
const quietMs = 20_000

type Deps = {
  socket: WASocket
  clock: Clock
  /** The library takes the next message of the backlog only when the one before is stored. */
  isStorageAway: () => boolean
  /** How many stanzas of the backlog have come and are not stored yet. */
  unstored: () => number
  /** Aborts when the connection ends. */
  gone: AbortSignal
  /** The server has a backlog. */
  onBegin: () => void
  /** The backlog counts as over. */
  onEnd: () => void
}

export class BacklogDrain {
  readonly #deps: Deps
  readonly #time: CountedTime
  /** How many stanzas were asked for and have not come. */
  #awaited = 0
  #unstored = 0
  /** The counted time of the last progress. */
  #progressAt = 0
  /** The counted time of the last request. */
  #askedAt = 0
  /** How long nothing may come after a request before the service asks again. It grows while nothing comes. */
  #patienceMs = firstPatienceMs
  #usualPatienceMs = firstPatienceMs
  #cancelLook: (() => void) | undefined
  /** The backlog counts as over. */
  #isOver = false
  /** Nothing is asked for any more. */
  #isStopped = false

  constructor(deps: Deps) {
    this.#deps = deps
    this.#time = new CountedTime({
      clock: deps.clock,
      counts: () => !deps.isStorageAway(),
      onSlice: this.#endIfQuiet.bind(this),
    })
  }

  /** Takes the backlog from the login to its end. */
  listen(): void {
    const { socket, gone, onBegin } = this.#deps
    socket.ws.on('CB:ib,,offline_preview', () => {
      if (this.#isStopped) return
      if (!this.#isOver) onBegin()
      this.#time.start()
      this.#ask()
    })
    socket.ws.on('frame', ({ attrs }: Partial<BinaryNode>) => {
      if (attrs?.['offline'] !== undefined) this.#noteArrival()
    })
    socket.ev.on('connection.update', ({ connection, receivedPendingNotifications }) => {
      if (receivedPendingNotifications === true) this.#end()
      if (connection === 'open' && !this.#isOver && !this.#isStopped) this.#time.start()
    })
    gone.addEventListener('abort', this.#stop.bind(this), { once: true })
  }

  #ask(): void {
    const { socket } = this.#deps
    const request = { tag: 'offline_batch', attrs: { count: String(windowSize) } }
    socket.sendNode({ tag: 'ib', attrs: {}, content: [request] }).catch(ignoreRejection)
    this.#awaited = windowSize
    this.#askedAt = this.#time.ms
    this.#lookLater()
  }

  #lookLater(): void {
    const isQuiet = this.#isOver && this.#awaited === windowSize
    this.#cancelLook?.()
    this.#cancelLook = this.#deps.clock.after(isQuiet ? lookAfterMs : pauseMs, this.#look.bind(this))
  }

  #look(): void {
    this.#noteStored()
    const idleMs = this.#time.ms - Math.max(this.#progressAt, this.#askedAt)
    const isTaken = this.#awaited <= 0 || idleMs >= this.#patienceMs
    const isRoom = this.#unstored <= mostUnstored || idleMs >= longestPauseMs
    if (!isTaken || !isRoom || this.#deps.isStorageAway()) {
      this.#lookLater()
      return
    }
    const longestMs = this.#isOver ? longestPauseAfterMs : longestPauseMs
    if (this.#awaited > 0) this.#patienceMs = Math.min(this.#patienceMs * 2, longestMs)
    this.#ask()
  }

  #noteArrival(): void {
    const isFirstOfWindow = this.#awaited === windowSize
    if (isFirstOfWindow) this.#usualPatienceMs = patienceAfter(this.#time.ms - this.#askedAt)
    this.#awaited -= 1
    this.#patienceMs = this.#usualPatienceMs
    this.#progressAt = this.#time.ms
    if (isFirstOfWindow && this.#isOver && !this.#isStopped) this.#lookLater()
  }

  #noteStored(): void {
    const unstored = this.#deps.unstored()
    if (unstored !== this.#unstored) this.#progressAt = this.#time.ms
    this.#unstored = unstored
  }

  #endIfQuiet(): void {
    this.#noteStored()
    if (this.#time.ms - this.#progressAt < quietMs) return
    this.#countAsOver()
    // The server has announced no backlog, so there is nothing to ask for.
    if (!this.#cancelLook) this.#time.stop()
  }

  #end(): void {
    if (this.#isStopped) return
    this.#stop()
    this.#countAsOver()
  }

  #countAsOver(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#deps.onEnd()
  }

  #stop(): void {
    this.#isStopped = true
    this.#time.stop()
    this.#cancelLook?.()
  }
}

function patienceAfter(answerMs: number): number {
  return Math.min(Math.max(pauseMs, answerMs * 2), longestPauseMs)
}
