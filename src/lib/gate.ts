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
    if (this.#inside >= this.#width) await this.#turn(signal)
    signal.throwIfAborted()
    this.#inside++
    let left = false
    return () => {
      if (left) return
      left = true
      this.#inside--
      this.#waiting.shift()?.()
    }
  }

  #turn(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const leave = () => {
        const at = this.#waiting.indexOf(come)
        if (at >= 0) this.#waiting.splice(at, 1)
        resolve()
      }
      const come = () => {
        signal.removeEventListener('abort', leave)
        resolve()
      }
      this.#waiting.push(come)
      signal.addEventListener('abort', leave, { once: true })
    })
  }
}
