// The only source of randomness in the simulator: one seed gives the same ids, keys, orders and faults.
import { createHash } from 'node:crypto'

export class SeededRandom {
  readonly #seed: string
  #block = 0
  #pool = Buffer.alloc(0)

  constructor(seed: string) {
    this.#seed = seed
  }

  /** An independent stream. The numbers that one part draws do not change the numbers of another part. */
  fork(name: string): SeededRandom {
    return new SeededRandom(`${this.#seed}/${name}`)
  }

  bytes(length: number): Buffer {
    while (this.#pool.length < length) {
      const block = createHash('sha512').update(`${this.#seed}#${this.#block++}`).digest()
      this.#pool = Buffer.concat([this.#pool, block])
    }
    const taken = Buffer.from(this.#pool.subarray(0, length))
    this.#pool = this.#pool.subarray(length)
    return taken
  }

  /** A whole number from 0 to the limit, without the limit. */
  below(limit: number): number {
    return this.bytes(6).readUIntBE(0, 6) % limit
  }

  hex(bytes: number): string {
    return this.bytes(bytes).toString('hex').toUpperCase()
  }

  digits(length: number): string {
    return Array.from({ length }, () => this.below(10)).join('')
  }
}
