// All processes of the service behind one address. With several of them, each is a node.

import type { BridgeProcess } from './bridge-process.ts'

export class Bridges {
  readonly url: string
  readonly processes: readonly BridgeProcess[]

  constructor(url: string, processes: readonly BridgeProcess[]) {
    this.url = url
    this.processes = processes
  }

  /** Whether a request finds a process that answers it. */
  get isReady(): boolean {
    return this.processes.some((each) => each.isReady)
  }

  get pid(): number | null {
    return this.processes.find(({ pid }) => pid !== null)?.pid ?? null
  }

  get starts(): number {
    return this.processes.reduce((sum, { starts }) => sum + starts, 0)
  }

  async start(): Promise<void> {
    await Promise.all(this.processes.map((each) => each.start()))
  }

  async end(): Promise<void> {
    await Promise.all(this.processes.map((each) => each.end()))
  }
}
