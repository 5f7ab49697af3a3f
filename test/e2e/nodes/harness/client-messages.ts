// Reads the messages that a client of PostgreSQL sends on one connection, to find the one that carries a statement.

/** A query, the parsing of a statement, and the binding of one that was parsed before. */
const kinds = new Set(['Q', 'P', 'B'])
/** A statement that begins or ends a transaction is short; a longer message may have the same word in its data. */
const longestBytes = 64

export class ClientMessages {
  /** How many bytes of the current message are still to come. */
  #rest = 0
  /** The beginning of a message whose length is not known yet. */
  #head = Buffer.alloc(0)
  #isStarted = false

  /**
   * The place in these bytes where the first message begins that contains the text. A message that began in earlier bytes
   * is not found.
   */
  indexOf(bytes: Buffer, text: string | undefined): number | undefined {
    let at = 0
    while (at < bytes.length) {
      if (this.#rest > 0) {
        const taken = Math.min(this.#rest, bytes.length - at)
        this.#rest -= taken
        at += taken
        continue
      }
      const known = this.#head.length
      const message = Buffer.concat([this.#head, bytes.subarray(at)])
      // The first message of a connection has a length but no kind.
      const lengthAt = this.#isStarted ? 1 : 0
      if (message.length < lengthAt + 4) {
        this.#head = message
        return undefined
      }
      const size = message.readUInt32BE(lengthAt) + lengthAt
      if (known === 0 && this.#isStarted && text !== undefined && says(message.subarray(0, size), text)) return at
      this.#head = Buffer.alloc(0)
      this.#isStarted = true
      this.#rest = size - known
    }
    return undefined
  }
}

function says(message: Buffer, text: string): boolean {
  if (message.length > longestBytes || !kinds.has(String.fromCharCode(message[0] ?? 0))) return false
  return message.toString('latin1').toUpperCase().includes(text.toUpperCase())
}
