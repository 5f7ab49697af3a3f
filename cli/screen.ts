// Prints sentences and a picture that is replaced in place where the terminal allows it.

import { stripVTControlCharacters } from 'node:util'

type Output = Pick<NodeJS.WriteStream, 'write' | 'isTTY' | 'rows' | 'columns'>

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

  /** Whether a picture of this size can be seen whole. A file shows any picture. */
  fits({ width, height }: { width: number; height: number }): boolean {
    const { isTTY, rows, columns } = this.#output
    // The cursor stands in a line of its own below the picture.
    return !isTTY || (width <= columns && height < rows)
  }

  /** The picture stays: it is not valid any more, or other things follow. */
  keep(): void {
    this.#linesSincePicture = undefined
  }

  #print(lines: readonly string[]): void {
    this.#output.write(`${lines.join('\n')}\n`)
    if (this.#linesSincePicture === undefined) return
    for (const line of lines) this.#linesSincePicture += this.#heightOf(line)
  }

  /** A line that is wider than the window goes on in the next one. */
  #heightOf(line: string): number {
    const { isTTY, columns } = this.#output
    const width = stripVTControlCharacters(line).length
    return isTTY && width > columns ? Math.ceil(width / columns) : 1
  }
}
