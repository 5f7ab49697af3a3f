// One request and its answer.
//
// waiting   in the queue of its origin, or for a connection: the base time, and nothing is sent
// sending   the body leaves: the base time plus its size at the slowest rate we accept
// awaiting  the last byte has left: the base time from there
// answering the head of the answer has come; a streamed body gets time for every byte that comes, a collected one
//           must end within what is left
// over      answered, failed or given up; later events of the connection are ignored

import type { Readable } from 'node:stream'
import type { Dispatcher } from 'undici'
import type { Clock } from '../clock.ts'
import { noteBufferGarbage } from '../buffer-garbage.ts'
import type { AnswerBody } from './answer-body.ts'
import { Deadline } from './deadline.ts'
import { EgressError, EgressRefused } from './errors.ts'
import type { EgressReason, Sent } from './errors.ts'
import { announcedBytes, ReceivedHead } from './received-head.ts'
import type { AnswerHead } from './received-head.ts'

/** Bytes per millisecond: 256 KB/s. */
const slowestRate = (256 * 1024) / 1000

type Terms = {
  clock: Clock
  /** Names the server in errors: scheme and host, never the path, which may hold a secret. */
  origin: string
  timeoutMs: number
  /** The time does not grow with what has been done. */
  isTotal: boolean
  maxResponseBytes: number
  signal: AbortSignal | undefined
  /** Bytes of a body whose length is known. */
  bodyBytes: number | undefined
  /** A body that is still to be read. */
  bodyStream: Readable | undefined
}

type Callbacks = {
  /** The head of the answer has come. A returned body is filled; without one the answer is collected. */
  onHead(head: AnswerHead): AnswerBody | undefined
  onEnd(chunks: Buffer[]): void
  onFailure(error: EgressError): void
}

// The older of undici's two handler interfaces: only this one reports when the request has left.
export class Exchange implements Dispatcher.DispatchHandler {
  readonly #terms: Terms
  readonly #callbacks: Callbacks
  readonly #deadline: Deadline
  #sent: Sent = 'nothing'
  #status: number | undefined
  #abort: ((error: Error) => void) | undefined
  #body: AnswerBody | undefined
  #chunks: Buffer[] = []
  #received = 0
  #isOver = false

  constructor(terms: Terms, callbacks: Callbacks) {
    this.#terms = terms
    this.#callbacks = callbacks
    this.#deadline = new Deadline(terms.clock, terms.timeoutMs, this.#onLate, terms.isTotal)
    terms.bodyStream?.on('error', this.#onBodyError)
    if (terms.signal?.aborted) this.#onAborted()
    else terms.signal?.addEventListener('abort', this.#onAborted)
  }

  get isOver(): boolean {
    return this.#isOver
  }

  onConnect(abort: (error?: Error) => void): void {
    // Thrown, not aborted: an abort would close the connection, on which nothing was written.
    if (this.#isOver) throw new Error('given up while it waited')
    this.#abort = abort
    this.#deadline.restart(this.#terms.timeoutMs + (this.#terms.bodyBytes ?? 0) / slowestRate)
  }

  onBodySent(chunk: unknown): void {
    if (this.#terms.bodyStream === undefined) return
    this.#sent = 'part'
    if (this.#terms.bodyBytes === undefined) this.#deadline.extend((chunk as Buffer).length / slowestRate)
  }

  onRequestSent(): void {
    this.#sent = 'all'
    // undici takes a buffer at once, but the buffer has not left by then.
    if (this.#terms.bodyStream) this.#deadline.shorten(this.#terms.timeoutMs)
  }

  onHeaders(status: number, rawHeaders: Buffer[], resume: () => void): boolean {
    if (status < 200) return true
    this.#status = status
    if (announcedBytes(rawHeaders) > this.#terms.maxResponseBytes) {
      this.#giveUp('too_large', this.#tooLarge())
      return true
    }
    this.#body = this.#callbacks.onHead(new ReceivedHead(status, rawHeaders))
    if (this.#body === undefined) return true
    this.#body.onRead = resume
    this.#body.onDrop = () => {
      this.#giveUp('aborted', 'the answer was not wanted any more')
    }
    this.#deadline.restart(this.#terms.timeoutMs)
    return true
  }

  onData(chunk: Buffer): boolean {
    this.#received += chunk.length
    if (this.#received > this.#terms.maxResponseBytes) {
      this.#giveUp('too_large', this.#tooLarge())
      return false
    }
    if (this.#body === undefined) {
      this.#chunks.push(chunk)
      return true
    }
    this.#deadline.extend(chunk.length / slowestRate)
    noteBufferGarbage(chunk.length)
    return this.#body.push(chunk)
  }

  onComplete(): void {
    if (!this.#finish()) return
    if (this.#body) this.#body.push(null)
    else this.#callbacks.onEnd(this.#chunks)
  }

  onError(error: Error): void {
    this.#fail(this.#explain(error))
  }

  #explain(error: Error): EgressError {
    if (error instanceof EgressRefused) return error
    if (error.name === 'RequestContentLengthMismatchError') {
      this.#sent = 'part'
      return this.#error('body_failed', 'the body has not the length that was announced', error)
    }
    if (this.#sent === 'nothing') {
      return this.#error('unreachable', `no connection to ${this.#terms.origin}: ${error.message}`, error)
    }
    return this.#error('lost', `the connection to ${this.#terms.origin} was lost: ${error.message}`, error)
  }

  #onLate = (): void => {
    this.#giveUp('timeout', `${this.#terms.origin} took longer than it may`)
  }

  #onAborted = (): void => {
    this.#giveUp('aborted', 'the request was aborted', this.#terms.signal?.reason)
  }

  #onBodyError = (error: Error): void => {
    this.#giveUp('body_failed', `the body could not be read: ${error.message}`, error)
  }

  #tooLarge(): string {
    return `the answer of ${this.#terms.origin} is larger than ${this.#terms.maxResponseBytes} bytes`
  }

  #giveUp(reason: EgressReason, message: string, cause?: unknown): void {
    const error = this.#error(reason, message, cause)
    const isFirst = this.#fail(error)
    if (isFirst) this.#abort?.(error)
  }

  #error(reason: EgressReason, message: string, cause?: unknown): EgressError {
    return new EgressError(reason, message, { sent: this.#sent, status: this.#status, cause })
  }

  #fail(error: EgressError): boolean {
    if (!this.#finish()) return false
    if (this.#body) this.#body.destroy(error)
    else this.#callbacks.onFailure(error)
    return true
  }

  /** False when the exchange was over already. */
  #finish(): boolean {
    if (this.#isOver) return false
    this.#isOver = true
    this.#deadline.end()
    this.#terms.signal?.removeEventListener('abort', this.#onAborted)
    // Also when the answer is complete: it may come before the request body has left.
    this.#terms.bodyStream?.destroy()
    return true
  }
}
