// A program of the terminal as its own process: what it prints, and how it ends.

import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { waitUntil } from '../../harness/wait-until.ts'

const folder = fileURLToPath(new URL('../../../cli/', import.meta.url))

/** A busy machine may need that long for the start of a program. */
export const patienceMs = 300_000

export class CliProcess {
  readonly #child: ChildProcess
  #output = ''
  #errors = ''
  #exitCode: number | null | undefined

  /** `program` is the name of a file of `cli/`. Its standard input is closed, as under a supervisor. */
  constructor(program: string, args: readonly string[], environment: Record<string, string> = {}) {
    const { PATH = '', NODE_COMPILE_CACHE = '' } = process.env
    this.#child = spawn(process.execPath, [`${folder}${program}.ts`, ...args], {
      env: { PATH, NODE_COMPILE_CACHE, ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    this.#child.stdout?.setEncoding('utf8').on('data', (chunk: string) => (this.#output += chunk))
    this.#child.stderr?.setEncoding('utf8').on('data', (chunk: string) => (this.#errors += chunk))
    this.#child.on('close', (code) => (this.#exitCode = code))
  }

  /** Runs a program to its end. */
  static async run(program: string, args: readonly string[], environment: Record<string, string> = {}) {
    await using running = new CliProcess(program, args, environment)
    return await running.ended()
  }

  get output(): string {
    return this.#output
  }

  send(signal: NodeJS.Signals): void {
    this.#child.kill(signal)
  }

  /** Waits until the program has printed this. */
  async prints(what: RegExp): Promise<void> {
    await waitUntil(`the program prints ${String(what)}`, () => what.test(this.#output), {
      timeoutMs: patienceMs,
      instead: () => this.#story(),
    })
  }

  async ended(): Promise<{ code: number | null; output: string; errors: string }> {
    await waitUntil('the program ends', () => this.#exitCode !== undefined, {
      timeoutMs: patienceMs,
      instead: () => this.#story(),
    })
    return { code: this.#exitCode ?? null, output: this.#output, errors: this.#errors }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#exitCode !== undefined) return
    this.#child.kill('SIGKILL')
    await this.ended()
  }

  #story(): unknown {
    return { output: this.#output, errors: this.#errors, code: this.#exitCode }
  }
}
