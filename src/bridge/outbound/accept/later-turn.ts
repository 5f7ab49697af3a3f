// The turn of a message that is stored before its turn comes.

export class LaterTurn {
  readonly #comes = Promise.withResolvers<undefined>()
  #hasCome = false
  #onTurn: (() => void) | undefined

  /** Resolves when the turn has come. */
  get comes(): Promise<undefined> {
    return this.#comes.promise
  }

  /** Runs `work` when the turn comes, or at once when it has come. */
  whenItComes(work: () => void): void {
    if (this.#hasCome) work()
    else this.#onTurn = work
  }

  come(): void {
    this.#hasCome = true
    this.#onTurn?.()
    this.#comes.resolve(undefined)
  }
}
