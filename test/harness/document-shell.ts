// Runs commands of documents as a person does: in a shell, in a folder that looks like a fresh clone.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { mkdtemp, readdir, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { waitUntil } from './wait-until.ts'

/** Files of a clone that was used already. A fresh clone does not have them. */
const traces = ['.env', '.git', 'data', '_site', 'build-info.json']

// By itself, curl takes an answer with an error for a success.
const strictCurl =
  'curl() { case "$*" in *-sf*) command curl "$@" ;; *) command curl --silent --show-error --fail-with-body "$@" ;; esac; }'
const strictly = `set -euo pipefail; ${strictCurl};`

type Options = {
  environment?: Record<string, string>
  /** Texts of the document and what stands in their place here, such as addresses. */
  replace?: Readonly<Record<string, string>>
}

/** A command that runs. `output` is what it has printed. */
export class RunningCommand {
  readonly #child: ChildProcess
  readonly #text: string
  output = ''
  #code: number | undefined

  constructor(text: string, cwd: string, env: Record<string, string>) {
    this.#text = text
    // A process group of its own: npm starts a shell, and the shell starts Node.
    this.#child = spawn('bash', ['-c', `${strictly} ${text}`], { cwd, env, detached: true })
    const collect = (chunk: Buffer) => (this.output += chunk.toString())
    this.#child.stdout?.on('data', collect)
    this.#child.stderr?.on('data', collect)
    this.#child.on('close', (code) => (this.#code = code ?? 1))
  }

  async succeeds(): Promise<string> {
    await waitUntil(`"${this.#text}" ends`, () => this.#code !== undefined, { instead: () => this.output })
    assert.equal(this.#code, 0, `"${this.#text}" says ${this.output}`)
    return this.output
  }

  /** Waits for something that happens while the command runs. */
  async until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
    const ended = () => {
      assert.equal(this.#code, undefined, `"${this.#text}" ended and said ${this.output}`)
      return false
    }
    await waitUntil(what, async () => (await holds()) || ended(), { instead: () => this.output })
  }

  /** Ends the command as Ctrl+C does, and waits until it has ended. */
  async stop(signal: NodeJS.Signals = 'SIGINT'): Promise<void> {
    if (this.#code !== undefined) return
    process.kill(-(this.#child.pid ?? 0), signal)
    await waitUntil(`"${this.#text}" ends after ${signal}`, () => this.#code !== undefined)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop('SIGKILL')
  }
}

export class DocumentShell {
  readonly folder: string
  readonly #options: Options
  readonly #running = new AsyncDisposableStack()

  private constructor(folder: string, options: Options) {
    this.folder = folder
    this.#options = options
  }

  static async open(options: Options = {}): Promise<DocumentShell> {
    const folder = await mkdtemp(join(tmpdir(), 'causeway-clone-'))
    for (const name of await readdir('.')) {
      if (!traces.includes(name)) await symlink(resolve(name), join(folder, name))
    }
    return new DocumentShell(folder, options)
  }

  /** A folder without files. The options may name it. */
  static async openEmpty(optionsOf: (place: { folder: string }) => Options): Promise<DocumentShell> {
    const folder = await mkdtemp(join(tmpdir(), 'causeway-server-'))
    return new DocumentShell(folder, optionsOf({ folder }))
  }

  /** Starts a command. `settings` are variables that only this command has. */
  start(text: string, settings: Record<string, string> = {}): RunningCommand {
    const { environment = {}, replace = {} } = this.#options
    const { PATH = '', HOME = '', NODE_COMPILE_CACHE = '' } = process.env
    const env = { PATH, HOME, NODE_COMPILE_CACHE, npm_config_update_notifier: 'false', ...environment, ...settings }
    const written = Object.entries(replace).reduce((shown, [from, to]) => shown.replaceAll(from, to), text)
    return this.#running.use(new RunningCommand(written, this.folder, env))
  }

  async run(text: string, settings: Record<string, string> = {}): Promise<string> {
    return this.start(text, settings).succeeds()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#running.disposeAsync()
    await rm(this.folder, { recursive: true, maxRetries: 5, retryDelay: 50 })
  }
}
