// Cuts the byte stream of a client into frames: one intro, then three bytes of length before each frame.
const INTRO_LENGTH = 4
const ROUTING_MARK = 'ED'

export class FrameReader {
  #buffer = Buffer.alloc(0)
  #introduced = false

  /** Returns the frames that this piece of data completes. */
  push(data: Uint8Array): Buffer[] {
    this.#buffer = this.#buffer.length === 0 ? Buffer.from(data) : Buffer.concat([this.#buffer, data])
    if (!this.#introduced && !this.#readIntro()) return []
    const frames: Buffer[] = []
    while (this.#buffer.length >= 3) {
      const end = 3 + this.#buffer.readUIntBE(0, 3)
      if (this.#buffer.length < end) break
      frames.push(this.#buffer.subarray(3, end))
      this.#buffer = this.#buffer.subarray(end)
    }
    return frames
  }

  /** A client that got routing info at an earlier login puts the routing info before the intro. */
  #readIntro(): boolean {
    const routed = this.#buffer.subarray(0, 2).toString() === ROUTING_MARK
    if (routed && this.#buffer.length < 7) return false
    const start = routed ? 7 + this.#buffer.readUIntBE(4, 3) : 0
    if (this.#buffer.length < start + INTRO_LENGTH) return false
    this.#buffer = this.#buffer.subarray(start + INTRO_LENGTH)
    this.#introduced = true
    return true
  }
}

export function frame(data: Uint8Array): Buffer {
  const length = Buffer.alloc(3)
  length.writeUIntBE(data.length, 0, 3)
  return Buffer.concat([length, data])
}
