// A child process of this one that runs the service as a cell.
//
// The channel between the two closes when either ends, however it ends. A cell whose channel is closed stops in order.

import { fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { finished } from 'node:stream/promises'
import { sleep } from '../../lib/clock.ts'
import type { Clock } from '../../lib/clock.ts'
import { passOn } from '../../lib/log.ts'
import type { Log } from '../../lib/log.ts'
import { cellArgument, readCellMessage } from './this-cell.ts'

type Deps = {
  /** The file that this process runs, too. */
  program: string
  /** Where other nodes reach the cell. */
  address: string
  clock: Clock
  log: Log
}

/** How long a cell may take to stop. */
const stopMs = 30_000
/** A stack is shorter. */
const mostErrorText = 4000

export class CellProcess {
  readonly address: string
  readonly #deps: Deps
  readonly #child: ChildProcess
  readonly #exited = Promise.withResolvers<undefined>()
  #url: string | undefined
  #hasExited = false
  #errors = ''

  constructor(deps: Deps) {
    this.#deps = deps
    this.address = deps.address
    const args = [cellArgument, deps.address]
    this.#child = fork(deps.program, args, { stdio: ['ignore', 'pipe', 'pipe', 'ipc'] })
    this.#child.on('message', (message) => (this.#url = readCellMessage(message) ?? this.#url))
    // Without an exit there is no process: it could not be started.
    this.#child.on('error', (err) => {
      deps.log.error({ err }, 'the process of a cell failed')
      if (this.#child.pid === undefined) this.#finish()
    })
    this.#child.on('exit', (code, signal) => {
      void this.#noteExit({ code, signal })
    })
    this.#passLinesOn()
  }

  /** Where the cell listens for requests of nodes; undefined until it does. */
  get url(): string | undefined {
    return this.#url
  }

  get hasExited(): boolean {
    return this.#hasExited
  }

  get exited(): Promise<void> {
    return this.#exited.promise
  }

  kill(): void {
    this.#child.kill('SIGKILL')
  }

  /** Stops the cell in order, and kills it when that takes too long. */
  async end(): Promise<void> {
    if (this.#child.connected) this.#child.disconnect()
    const over = new AbortController()
    await Promise.race([this.exited, sleep(this.#deps.clock, stopMs, over.signal)])
    over.abort()
    if (!this.#hasExited) this.kill()
    await this.exited
  }

  /** Its last words come first. The event `close` does not come after this process has closed the channel. */
  async #noteExit(exit: { code: number | null; signal: string | null }): Promise<void> {
    const { stdout, stderr, pid: cell } = this.#child
    await Promise.allSettled([stdout, stderr].flatMap((stream) => (stream ? [finished(stream)] : [])))
    const facts = { cell, ...exit, errors: this.#errors }
    if (exit.code === 0) this.#deps.log.info(facts, 'a cell has ended')
    else this.#deps.log.warn(facts, 'a cell is dead')
    this.#finish()
  }

  #finish(): void {
    this.#hasExited = true
    this.#exited.resolve(undefined)
  }

  /** The lines of the cell are in the log of this process, with a field that names the cell. */
  #passLinesOn(): void {
    const { stdout, stderr } = this.#child
    let begun = ''
    // Node's own reader of lines also splits at U+2028 and U+2029, which texts inside of a line may have.
    stdout?.setEncoding('utf8').on('data', (text: string) => {
      const lines = (begun + text).split('\n')
      begun = lines.pop() ?? ''
      for (const line of lines) this.#passOn(line)
    })
    stdout?.on('end', () => {
      this.#noteErrors(begun)
    })
    stderr?.on('data', (text: Buffer) => {
      this.#noteErrors(text.toString())
    })
  }

  #passOn(line: string): void {
    if (isLogLine(line)) passOn(this.#deps.log, `${line.slice(0, -1)},"cell":${this.#child.pid}}\n`)
    else this.#noteErrors(`${line}\n`)
  }

  #noteErrors(text: string): void {
    this.#errors = (this.#errors + text).slice(-mostErrorText)
  }
}

/** The log of this process must not get a line that cannot be read: a cell may die in the middle of one. */
function isLogLine(line: string): boolean {
  if (!line.startsWith('{"level":')) return false
  try {
    JSON.parse(line)
    return true
  } catch {
    return false
  }
}
