// Converts texts of any length without stopping the event loop. 65,536 characters of prose take 4 ms, but as many characters
// that all mean something in Markdown take 160 ms.
//
// short   converted at once
// medium  takes its turn of the event loop, because many of them can come at the same time
// long    converted by a thread of its own, one at a time. The thread starts with the first long text, ends when none came for
//         a while, and keeps the process alive only while it converts. When the thread ends early, a fresh thread converts the
//         text again. A text during which the thread ends twice fails; the texts behind it do not.

import { Worker } from 'node:worker_threads'
import { eventLoopShare } from '../event-loop-share.ts'
import { TextThreadError } from './text-thread-error.ts'

const shortText = 250
export const longText = 2000
const idleMs = 10_000

type Options<Input> = {
  convert: (input: Input) => string
  /** The file that runs `convert` in the thread, with `convertInThread`. */
  thread: URL
}
type Call = {
  input: unknown
  resolve: (text: string) => void
  reject: (reason: Error) => void
  /** The thread ended once while it converted this text. */
  hasEndedThread: boolean
}
export type Answer = { text: string } | { failure: string }

export class TextConverter<Input> {
  readonly #options: Options<Input>
  /** The first of them is in the thread. */
  readonly #calls: Call[] = []
  #worker: Worker | undefined
  #idle: NodeJS.Timeout | undefined

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
    return new Promise((resolve, reject) => {
      this.#calls.push({ input, resolve, reject, hasEndedThread: false })
      if (this.#calls.length === 1) this.#convertFirst()
    })
  }

  #convertFirst(): void {
    clearTimeout(this.#idle)
    const call = this.#calls[0]
    if (!call) {
      this.#rest()
      return
    }
    try {
      const worker = (this.#worker ??= this.#start())
      worker.ref()
      worker.postMessage(call.input)
    } catch (error) {
      // Memory may be too short for a thread, or for the copy of the text.
      const worker = this.#worker
      void worker?.terminate()
      setImmediate(() => {
        this.#end(worker, error)
      })
    }
  }

  #start(): Worker {
    const worker = new Worker(this.#options.thread, { name: 'texts' })
    worker.on('message', (answer: Answer) => {
      // The error of a thread can arrive before its last answer. Another thread converts the text then.
      if (this.#worker === worker) this.#settle(answer)
    })
    worker.on('error', (cause) => {
      this.#end(worker, cause)
    })
    worker.on('exit', (code) => {
      this.#end(worker, new Error(`the thread ended with code ${code}`))
    })
    return worker
  }

  #settle(answer: Answer): void {
    const call = this.#calls.shift()
    if ('text' in answer) call?.resolve(answer.text)
    else call?.reject(new Error(answer.failure))
    this.#convertFirst()
  }

  #rest(): void {
    const worker = this.#worker
    worker?.unref()
    this.#idle = setTimeout(() => {
      this.#worker = undefined
      void worker?.terminate()
    }, idleMs).unref()
  }

  /** Starts another thread for the texts that are left. `worker` is undefined when the thread did not start. */
  #end(worker: Worker | undefined, cause: unknown): void {
    if (this.#worker !== worker) return
    this.#worker = undefined
    const [call] = this.#calls
    if (!call) return
    if (call.hasEndedThread) {
      this.#calls.shift()
      call.reject(new TextThreadError({ cause }))
    }
    call.hasEndedThread = true
    this.#convertFirst()
  }
}
