// Limits how many callers run at once; the others wait in order.

export class Semaphore {
  readonly #width: () => number
  readonly #waiting: (() => void)[] = []
  #inside = 0

  /** A width that changes counts when a caller comes and when one leaves. */
  constructor(width: number | (() => number)) {
    this.#width = typeof width === 'number' ? () => width : width
  }

  /** Whether the next caller has to wait. */
  get isFull(): boolean {
    return this.#inside >= this.#width()
  }

  /** Whether no caller is inside. */
  get isEmpty(): boolean {
    return this.#inside === 0
  }

  /** Resolves to the function that makes room for the next caller; calling it twice does no harm. */
  async enter(signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted()
    if (!this.isFull) this.#inside++
    else if (!(await this.#turn(signal))) throw signal.reason
    let left = false
    const leave = () => {
      if (left) return
      left = true
      this.#makeRoom()
    }
    if (!signal.aborted) return leave
    leave()
    throw signal.reason
  }

  /** Gives the place to those who are next in line, so that a caller who comes now cannot take it. */
  #makeRoom(): void {
    this.#inside--
    while (!this.isFull) {
      const next = this.#waiting.shift()
      if (!next) return
      this.#inside++
      next()
    }
  }

  /** False when the signal aborted before there was a place. */
  #turn(signal: AbortSignal): Promise<boolean> {
    return new Promise((resolve) => {
      const leave = () => {
        const at = this.#waiting.indexOf(come)
        if (at >= 0) this.#waiting.splice(at, 1)
        resolve(false)
      }
      const come = () => {
        signal.removeEventListener('abort', leave)
        resolve(true)
      }
      this.#waiting.push(come)
      signal.addEventListener('abort', leave, { once: true })
    })
  }
}
