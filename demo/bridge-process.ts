// The service as a process of its own, on a port that it keeps when it is killed and started again.

import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const launcher = fileURLToPath(new URL('../bin/start.cjs', import.meta.url))

/** What a person reads when the service ends by itself. */
const keptLines = 20

type Options = {
  port: number
  /** The working directory. The launcher reads `.env` from it, so a directory without one keeps the demo apart. */
  directory: string
  environment: Readonly<Record<string, string>>
  /** Hears that the process has started, is ready, or has ended. */
  onChange: () => void
}

export class BridgeProcess {
  readonly port: number
  readonly url: string
  readonly #options: Options
  #child: ChildProcess | undefined
  #isReady = false
  #isOver = false
  /** How often the process was started. */
  starts = 0
  /** When the process ended last, on the clock of `performance.now()`. */
  endedAt: number | null = null

  constructor(options: Options) {
    this.#options = options
    this.port = options.port
    this.url = `http://127.0.0.1:${options.port}`
  }

  get isReady(): boolean {
    return this.#isReady
  }

  get pid(): number | null {
    return this.#child?.pid ?? null
  }

  /** Resolves when the service answers requests. */
  start(): Promise<void> {
    if (this.#isOver) return Promise.reject(new Error('the demo has ended'))
    const { port, directory, environment } = this.#options
    // With the cache of the first start, the start after a kill is faster.
    const { PATH = '', NODE_OPTIONS = '', NODE_COMPILE_CACHE = join(directory, 'compiled') } = process.env
    const child = spawn(process.execPath, [launcher], {
      cwd: directory,
      // The service stops by itself when the process with this number ends, even by kill -9.
      env: {
        ...{ PATH, NODE_OPTIONS, NODE_COMPILE_CACHE, TMPDIR: directory, CAUSEWAY_LAUNCHER: String(process.pid) },
        ...{ PORT: String(port), LOG_FORMAT: 'json' },
        ...environment,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    this.#child = child
    this.starts += 1
    return this.#ready(child)
  }

  /** kill -9. Resolves when the process has ended. */
  async kill(): Promise<void> {
    const child = this.#child
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    const ended = new Promise((resolve) => child.once('close', resolve))
    child.kill('SIGKILL')
    await ended
  }

  /** The last kill: the service is not started any more. */
  async end(): Promise<void> {
    this.#isOver = true
    await this.kill()
  }

  #ready(child: ChildProcess): Promise<void> {
    const last: string[] = []
    const keep = (line: string) => {
      last.push(line)
      if (last.length > keptLines) last.shift()
    }
    return new Promise((resolve, reject) => {
      child.once('error', reject)
      child.once('close', () => {
        this.#isReady = false
        this.endedAt = performance.now()
        this.#child = undefined
        this.#options.onChange()
        reject(new Error(`the service ended before it was ready:\n${last.join('\n')}`))
      })
      for (const stream of [child.stdout, child.stderr]) {
        if (!stream) continue
        createInterface({ input: stream }).on('line', (line) => {
          keep(line)
          if (!line.includes('"msg":"service ready"')) return
          this.#isReady = true
          this.#options.onChange()
          resolve()
        })
      }
    })
  }
}
