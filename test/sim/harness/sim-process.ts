// Runs the stand-alone simulator as a separate process that a test drives over the control API.
import assert from 'node:assert/strict'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { BufferJSON } from 'baileys'
import type { HelpdeskFacts } from '../../../sim/helpdesk/sim-helpdesk.ts'

type Started = {
  network: { url: string; root_key: string; ca_file: string }
  control: { url: string }
  helpdesk: HelpdeskFacts
  agent_view: string
}
export type Json = Record<string, unknown>

export class SimProcess {
  readonly #child: ChildProcess
  readonly started: Started
  readonly network: { url: string; rootKey: Buffer }

  private constructor(child: ChildProcess, started: Started) {
    this.#child = child
    this.started = started
    this.network = { url: started.network.url, rootKey: Buffer.from(started.network.root_key, 'hex') }
  }

  static async start(seed = 'control', options: readonly string[] = []): Promise<SimProcess> {
    const words = ['sim/cli.ts', '--seed', seed, ...options]
    const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'] })
    const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string]
    const started = JSON.parse(line) as Started
    setDefaultCACertificates([...getCACertificates('default'), await readFile(started.network.ca_file, 'utf8')])
    return new SimProcess(child, started)
  }

  async call(method: string, path: string, body?: Json): Promise<{ status: number; json: Json }> {
    const init = body === undefined ? { method } : { method, body: JSON.stringify(body) }
    const response = await fetch(this.started.control.url + path, init)
    return { status: response.status, json: JSON.parse(await response.text(), BufferJSON.reviver) as Json }
  }

  async post(path: string, body: Json = {}): Promise<Json> {
    const { status, json } = await this.call('POST', path, body)
    assert.equal(status, 200, JSON.stringify(json))
    return json
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode !== null) return
    const ended = once(this.#child, 'exit')
    this.#child.kill('SIGTERM')
    assert.deepEqual(await ended, [0, null])
  }
}
