// Prints sentences and a picture that is replaced in place where the terminal allows it.

type Output = Pick<NodeJS.WriteStream, 'write' | 'isTTY' | 'rows'>

export class Screen {
  readonly #output: Output
  /** How many lines were printed since the picture began; undefined when no picture can be replaced. */
  #linesSincePicture: number | undefined
  #last = ''

  constructor(output: Output) {
    this.#output = output
  }

  /** Prints a sentence, unless it is the one that stands there already. */
  say(sentence: string): void {
    if (sentence === this.#last) return
    this.#last = sentence
    this.#print(sentence.split('\n'))
  }

  /** Prints a picture. The picture before it goes, with everything that was printed after it. */
  show(lines: readonly string[]): void {
    const above = this.#linesSincePicture
    // Lines that have left the screen at its top cannot be replaced.
    if (above !== undefined && this.#output.isTTY && above < this.#output.rows) {
      this.#output.write(`\x1b[${above}A\x1b[J`)
    }
    this.#linesSincePicture = 0
    this.#last = ''
    this.#print(lines)
  }

  /** The picture stays: it is not valid any more, or other things follow. */
  keep(): void {
    this.#linesSincePicture = undefined
  }

  #print(lines: readonly string[]): void {
    this.#output.write(`${lines.join('\n')}\n`)
    if (this.#linesSincePicture !== undefined) this.#linesSincePicture += lines.length
  }
}
