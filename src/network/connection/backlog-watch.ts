// Notices the end of a backlog that the server does not announce: nothing of it has come for a while.

import type { Clock } from '../../lib/clock.ts'
import { CountedTime } from '../../lib/counted-time.ts'
import type { BinaryNode, WASocket } from '../library/library.ts'

/** The server announces the end within seconds. */
const quietMs = 20_000

type Deps = {
  socket: WASocket
  clock: Clock
  /** The library takes the next message of the backlog only when the one before is stored. */
  isStorageAway: () => boolean
  /** Aborts when the connection ends. */
  gone: AbortSignal
  onQuiet: () => void
}

export class BacklogWatch {
  readonly #deps: Deps
  readonly #time: CountedTime
  #cameAt = 0
  #isOver = false

  constructor(deps: Deps) {
    this.#deps = deps
    this.#time = new CountedTime({
      clock: deps.clock,
      counts: () => !deps.isStorageAway(),
      onSlice: this.#look.bind(this),
    })
  }

  /** Watches from the login to the end of the backlog. */
  listen(): void {
    const { socket, gone } = this.#deps
    socket.ws.on('frame', ({ attrs }: Partial<BinaryNode>) => {
      if (attrs?.['offline'] !== undefined) this.#cameAt = this.#time.ms
    })
    socket.ev.on('connection.update', ({ connection, receivedPendingNotifications }) => {
      if (receivedPendingNotifications === true) this.#end()
      if (connection === 'open' && !this.#isOver) this.#time.start()
    })
    gone.addEventListener('abort', this.#end.bind(this), { once: true })
  }

  #end(): void {
    this.#isOver = true
    this.#time.stop()
  }

  #look(): void {
    if (this.#time.ms - this.#cameAt < quietMs) return
    this.#end()
    this.#deps.onQuiet()
  }
}
