// Converts texts of any length without stopping the event loop. 65,536 characters of prose take 4 ms, but as many characters
// that all mean something in Markdown take 160 ms.
//
// short   converted at once
// medium  takes its turn of the event loop, because many of them can come at the same time
// long    converted by a thread of its own. The thread starts with the first long text, ends when none came for a while, and
//         keeps the process alive only while it converts.

import { Worker } from 'node:worker_threads'
import { eventLoopShare } from '../event-loop-share.ts'

const shortText = 250
export const longText = 2000
const idleMs = 10_000

type Options<Input> = {
  convert: (input: Input) => string
  /** The file that runs `convert` in the thread, with `convertInThread`. */
  thread: URL
}
type Call = { resolve: (text: string) => void; reject: (reason: Error) => void }
export type Question = { id: number; input: unknown }
export type Answer = { id: number; text: string } | { id: number; failure: string }

export class TextConverter<Input> {
  readonly #options: Options<Input>
  readonly #calls = new Map<number, Call>()
  #worker: Worker | undefined
  #idle: NodeJS.Timeout | undefined
  #lastId = 0

  constructor(options: Options<Input>) {
    this.#options = options
  }

  /** `length` counts the characters of all texts in the input. */
  async convert(input: Input, length: number): Promise<string> {
    if (length > longText) return this.#inThread(input)
    if (length > shortText) await eventLoopShare.next()
    return this.#options.convert(input)
  }

  #inThread(input: Input): Promise<string> {
    const id = ++this.#lastId
    const worker = (this.#worker ??= this.#start())
    return new Promise((resolve, reject) => {
      this.#calls.set(id, { resolve, reject })
      clearTimeout(this.#idle)
      worker.ref()
      worker.postMessage({ id, input } satisfies Question)
    })
  }

  #start(): Worker {
    const worker = new Worker(this.#options.thread, { name: 'texts' })
    worker.on('message', (answer: Answer) => {
      this.#settle(worker, answer)
    })
    worker.on('error', (cause) => {
      this.#end(worker, new Error('the thread for long texts failed', { cause }))
    })
    worker.on('exit', () => {
      this.#end(worker, new Error('the thread for long texts has ended'))
    })
    return worker
  }

  #settle(worker: Worker, answer: Answer): void {
    const call = this.#calls.get(answer.id)
    this.#calls.delete(answer.id)
    if ('text' in answer) call?.resolve(answer.text)
    else call?.reject(new Error(answer.failure))
    if (this.#calls.size > 0) return
    worker.unref()
    this.#idle = setTimeout(() => {
      this.#worker = undefined
      void worker.terminate()
    }, idleMs).unref()
  }

  /** The next text starts another thread. */
  #end(worker: Worker, reason: Error): void {
    if (this.#worker !== worker) return
    this.#worker = undefined
    for (const { reject } of this.#calls.values()) reject(reason)
    this.#calls.clear()
  }
}
