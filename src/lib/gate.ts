// Lets a bounded number of callers through at once; the others wait in order.

export class Gate {
  readonly #width: number
  readonly #waiting: (() => void)[] = []
  #inside = 0

  constructor(width: number) {
    this.#width = width
  }

  /** Resolves to the function that makes room for the next one; calling it twice does no harm. */
  async enter(signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted()
    if (this.#inside < this.#width) this.#inside++
    else await this.#turn(signal)
    let left = false
    return () => {
      if (left) return
      left = true
      // The place goes straight to who waited longest: nobody who comes meanwhile can take it.
      const next = this.#waiting.shift()
      if (next) next()
      else this.#inside--
    }
  }

  #turn(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const come = () => {
        signal.removeEventListener('abort', giveUp)
        resolve()
      }
      const giveUp = () => {
        this.#waiting.splice(this.#waiting.indexOf(come), 1)
        reject(signal.reason as Error)
      }
      this.#waiting.push(come)
      signal.addEventListener('abort', giveUp, { once: true })
    })
  }
}
