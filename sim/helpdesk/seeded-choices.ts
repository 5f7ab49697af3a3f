// The simulator's random choices: a choice depends on the seed and its subject, never on the order of the calls.

import { createHash } from 'node:crypto'

const base58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'

export type About = readonly (string | number)[]

export class SeededChoices {
  readonly #seed: string

  constructor(seed: string) {
    this.#seed = seed
  }

  /** A number from 0 to 1, without 1. */
  fraction(...about: About): number {
    return this.#digest(about).readUIntBE(0, 6) / 2 ** 48
  }

  chance(probability: number, ...about: About): boolean {
    return probability > 0 && this.fraction(...about) < probability
  }

  between([low, high]: readonly [number, number], ...about: About): number {
    return low + Math.floor(this.fraction(...about) * (high - low + 1))
  }

  /** 24 characters, like Chatwoot's tokens and secrets. */
  token(...about: About): string {
    const bytes = this.#digest(about)
    return Array.from({ length: 24 }, (_, at) => base58.charAt((bytes[at] ?? 0) % base58.length)).join('')
  }

  uuid(...about: About): string {
    const hex = this.#digest(about).toString('hex')
    return [
      hex.slice(0, 8),
      hex.slice(8, 12),
      `4${hex.slice(13, 16)}`,
      `a${hex.slice(17, 20)}`,
      hex.slice(20, 32),
    ].join('-')
  }

  #digest(about: About): Buffer {
    return createHash('sha256')
      .update(JSON.stringify([this.#seed, ...about]))
      .digest()
  }
}
