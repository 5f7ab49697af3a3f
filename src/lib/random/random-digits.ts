// Creates random hexadecimal texts. Draws the bytes for many texts at once: a few bytes cost as much as a thousand.

import { randomBytes } from 'node:crypto'

const drawnTexts = 256

/** Each call of the result returns another text of so many digits, which is an even number. */
export function createRandomDigits(digits: number): () => string {
  let drawn = ''
  return () => {
    if (drawn === '') drawn = randomBytes((drawnTexts * digits) / 2).toString('hex')
    const text = drawn.slice(0, digits)
    drawn = drawn.slice(digits)
    return text
  }
}
