// A part of a benchmark in a process of its own: questions go over, answers come back, and it ends with its parent.

import { fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'

type Question = { id: number; name: string; input: unknown }
type Answer = { id: number; output?: unknown; error?: string }
type Waiting = { resolve: (output: unknown) => void; reject: (error: Error) => void }
/** What a process can be asked, by name. */
export type Desk = Record<string, (input: never) => unknown>

const answerMs = 240_000
const endMs = 10_000

export class Child<Asked extends Desk> implements AsyncDisposable {
  readonly #name: string
  readonly #process: ChildProcess
  readonly #waiting = new Map<number, Waiting>()
  #asked = 0

  constructor(file: string, environment: Record<string, string> = {}, nodeOptions: readonly string[] = []) {
    this.#name = file
    this.#process = fork(new URL(file, import.meta.url), {
      // BENCH_NODE_OPTIONS=--cpu-prof shows where the time goes.
      execArgv: ['--expose-gc', ...nodeOptions, ...(process.env['BENCH_NODE_OPTIONS']?.split(' ') ?? [])],
      env: { PATH: process.env['PATH'] ?? '', ...environment },
      // What a process logs is part of its work, but the benchmark does not read it.
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    })
    this.#process.on('message', (answer: Answer) => {
      const waiting = this.#waiting.get(answer.id)
      if (answer.error === undefined) waiting?.resolve(answer.output)
      else waiting?.reject(new Error(`${file}: ${answer.error}`))
    })
    this.#process.on('exit', (code, signal) => {
      for (const { reject } of this.#waiting.values()) reject(new Error(`${file} ended (${code ?? signal})`))
    })
  }

  async ask<Name extends keyof Asked & string>(
    name: Name,
    ...[input]: Parameters<Asked[Name]>
  ): Promise<Awaited<ReturnType<Asked[Name]>>> {
    const id = (this.#asked += 1)
    const { promise, resolve, reject } = Promise.withResolvers<unknown>()
    this.#waiting.set(id, { resolve, reject })
    const late = setTimeout(() => {
      reject(new Error(`${this.#name} did not answer ${name} within ${answerMs} ms`))
    }, answerMs)
    try {
      this.#process.send({ id, name, input } satisfies Question)
      return (await promise) as Awaited<ReturnType<Asked[Name]>>
    } finally {
      clearTimeout(late)
      this.#waiting.delete(id)
    }
  }

  /** kill -9. */
  async kill(): Promise<void> {
    const gone = once(this.#process, 'exit')
    this.#process.kill('SIGKILL')
    await gone
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return
    const gone = once(this.#process, 'exit')
    const force = setTimeout(() => this.#process.kill('SIGKILL'), endMs)
    this.#process.disconnect()
    await gone
    clearTimeout(force)
  }
}

/** The other side: answers until the parent goes away, then cleans up and ends. */
export function serveParent(desk: Desk, close: () => Promise<void> = () => Promise.resolve()): void {
  process.on('message', ({ id, name, input }: Question) => {
    Promise.try(() => desk[name]?.(input as never)).then(
      (output) => process.send?.({ id, output } satisfies Answer),
      (error: unknown) => process.send?.({ id, error: describe(error) } satisfies Answer),
    )
  })
  process.once('disconnect', () => {
    void close().finally(() => process.exit())
  })
}

function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
