// The body of an answer as a stream: the caller reads it to its end or destroys it.

import { Readable } from 'node:stream'

export class AnswerBody extends Readable {
  onRead: () => void = () => undefined
  /** Called when the body is destroyed before its end. */
  onDrop: () => void = () => undefined

  constructor() {
    super()
    // A body without a reader may still be cut off; that must not end the process.
    this.on('error', () => undefined)
  }

  override _read(): void {
    this.onRead()
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    if (!this.readableEnded) this.onDrop()
    done(error)
  }
}
