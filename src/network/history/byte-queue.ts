// Bytes that have come and are not read yet, in the chunks in which they came. A chunk is copied at most once.

export class ByteQueue {
  readonly #chunks: Buffer[] = []
  /** How many bytes of the first chunk are read. */
  #read = 0
  #length = 0

  get length(): number {
    return this.#length
  }

  push(chunk: Buffer): void {
    if (chunk.length === 0) return
    this.#chunks.push(chunk)
    this.#length += chunk.length
  }

  /** The first bytes, at most so many. They stay in the queue. */
  peek(most: number): Buffer {
    const [first] = this.#chunks
    if (!first) return Buffer.alloc(0)
    const ahead = first.subarray(this.#read, this.#read + most)
    if (ahead.length === most || this.#chunks.length === 1) return ahead
    const parts = [ahead]
    for (let at = 1, missing = most - ahead.length; at < this.#chunks.length && missing > 0; at++) {
      const part = this.#chunks[at]?.subarray(0, missing) ?? Buffer.alloc(0)
      parts.push(part)
      missing -= part.length
    }
    return Buffer.concat(parts)
  }

  /** Removes exactly so many bytes. The caller knows that they have come. */
  take(count: number): Buffer {
    const parts: Buffer[] = []
    for (let missing = count; missing > 0;) {
      const part = this.#next(missing)
      parts.push(part)
      missing -= part.length
    }
    const [only] = parts
    return parts.length === 1 && only ? only : Buffer.concat(parts)
  }

  /** Removes so many bytes, or all if fewer have come. Returns how many it removed. */
  skip(count: number): number {
    let skipped = 0
    while (skipped < count && this.#length > 0) skipped += this.#next(count - skipped).length
    return skipped
  }

  /** Removes bytes of the first chunk. */
  #next(most: number): Buffer {
    const [first = Buffer.alloc(0)] = this.#chunks
    const part = first.subarray(this.#read, this.#read + most)
    this.#read += part.length
    this.#length -= part.length
    if (this.#read === first.length) {
      this.#chunks.shift()
      this.#read = 0
    }
    return part
  }
}
