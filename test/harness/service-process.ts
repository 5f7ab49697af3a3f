// The service as its own process, as an operator runs it: real signals, real exit codes.

import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { requestFrom } from './http-request.ts'
import type { Answer, RequestOptions } from './http-request.ts'
import { waitUntil } from './wait-until.ts'

const main = fileURLToPath(new URL('../../src/main.ts', import.meta.url))

/** On a busy machine a start with a backlog, or the end of a process, may take that long. */
const startOrEndMs = 300_000

/** For a service without a simulated network: a pinned version is not asked for, so nothing reaches the real network. */
export const pinnedVersion = { SERVICE_NETWORK_VERSION: '2,3000,1' }

type LogLine = Record<string, unknown> & { msg: string }

export class ServiceProcess {
  readonly #child: ChildProcess
  readonly #lines: LogLine[] = []
  #errors = ''
  #exit: { code: number | null; signal: string | null } | undefined

  /**
   * Starts with nothing but these variables and what Node is found and started with, on a free port unless they name one.
   * `launcher` is a command that starts the rest of its arguments, for example under a limit. With an empty script it is
   * the whole command, for example `npm start`.
   */
  constructor(
    environment: Record<string, string>,
    cwd?: string,
    script: readonly string[] = [main],
    launcher: readonly string[] = [],
  ) {
    const { PATH = '', NODE_COMPILE_CACHE = '' } = process.env
    const version = 'SERVICE_NETWORK_URL' in environment ? {} : pinnedVersion
    const env = { PATH, NODE_COMPILE_CACHE, PORT: '0', LOG_FORMAT: 'json', ...version, ...environment }
    const program = script.length > 0 ? [process.execPath, ...script] : []
    const [command = '', ...args] = [...launcher, ...program]
    this.#child = spawn(command, args, { env, ...(cwd !== undefined && { cwd }) })
    let partial = ''
    this.#child.stdout?.on('data', (chunk: Buffer) => {
      const lines = (partial + chunk.toString()).split('\n')
      partial = lines.pop() ?? ''
      for (const line of lines) this.#lines.push(JSON.parse(line) as LogLine)
    })
    this.#child.stderr?.on('data', (chunk: Buffer) => (this.#errors += chunk.toString()))
    this.#child.on('close', (code, signal) => (this.#exit = { code, signal }))
  }

  get pid(): number {
    return this.#child.pid ?? 0
  }

  get errors(): string {
    return this.#errors
  }

  get hasExited(): boolean {
    return this.#exit !== undefined
  }

  send(signal: NodeJS.Signals): void {
    this.#child.kill(signal)
  }

  has(message: string): boolean {
    return this.#lines.some(({ msg }) => msg === message)
  }

  /** Everything that was logged with this message. */
  allLogged(message: string): LogLine[] {
    return this.#lines.filter(({ msg }) => msg === message)
  }

  /** Whether an instance has come to this state. */
  reached(state: string): boolean {
    return this.#lines.some(({ msg, to }) => msg === 'instance state changed' && to === state)
  }

  async logged(message: string, timeoutMs = startOrEndMs): Promise<LogLine> {
    const find = () => this.#lines.find(({ msg }) => msg === message)
    const instead = () => this.#story()
    await waitUntil(`the process logs "${message}"`, () => find() !== undefined, { timeoutMs, instead })
    return find() as LogLine
  }

  /** The base URL, once the service is ready. */
  async ready(): Promise<string> {
    return String((await this.logged('service ready'))['url'])
  }

  get(path: string): Promise<Answer> {
    return this.request('GET', path)
  }

  /** Sends no token unless the test names one. */
  async request(method: string, path: string, options: RequestOptions = {}): Promise<Answer> {
    return requestFrom(await this.ready(), method, path, options)
  }

  async exited(): Promise<{ code: number | null; signal: string | null }> {
    const instead = () => this.#story()
    await waitUntil('the process ends', () => this.#exit !== undefined, { timeoutMs: startOrEndMs, instead })
    return this.#exit as { code: number | null; signal: string | null }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#exit) return
    this.#child.kill('SIGKILL')
    await this.exited()
  }

  #story(): unknown {
    return { logged: this.#lines.map(({ msg }) => msg), errors: this.#errors, exit: this.#exit }
  }
}
