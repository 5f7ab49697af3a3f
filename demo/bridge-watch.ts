// What the service says of itself: the state of its account, what waits, and what it recognised as a repetition.

import { BridgeApi } from './bridge-api.ts'
import type { BridgeProcess } from './bridge-process.ts'
import { NodeWatch } from './nodes/node-watch.ts'
import { instance } from './stage.ts'
import type { Stage } from './stage.ts'
import type { BridgeView } from './view.ts'

const everyMs = 300

type Metrics = ReadonlyMap<string, number>

export class BridgeWatch {
  readonly nodes: NodeWatch
  readonly #stage: Stage
  #view: BridgeView = { isUp: false, state: 'starting', inboxPending: 0, outboxPending: 0, repeated: 0 }
  /** The counters of a process begin at zero with each start. */
  readonly #repeated = new Map<string, number>()
  #timer: NodeJS.Timeout | undefined

  constructor(stage: Stage) {
    this.#stage = stage
    this.nodes = new NodeWatch(stage.bridge.processes)
  }

  get view(): BridgeView {
    return this.#stage.bridge.isReady ? this.#view : { ...this.#view, isUp: false }
  }

  begin(): void {
    const look = async () => {
      await this.look()
      this.#timer = setTimeout(() => void look(), everyMs)
    }
    void look()
  }

  end(): void {
    clearTimeout(this.#timer)
  }

  /** A service that does not answer is down, and what was known last stays. */
  async look(): Promise<void> {
    const running = this.#stage.bridge.processes.filter(({ isReady }) => isReady)
    const answers = await Promise.all(running.map((each) => this.#ask(each)))
    const seen = new Map(answers.flatMap((answer) => (answer ? [answer] : [])))
    const before = this.#shown()
    this.nodes.note(new Map([...seen].map(([each, metrics]) => [each, [...statesIn(metrics).keys()]])))
    if (seen.size > 0) this.#view = this.#read([...seen.values()])
    if (this.#shown() !== before) this.#stage.changed()
  }

  #shown(): string {
    return JSON.stringify([this.#view, this.nodes.view, this.nodes.death])
  }

  /** Undefined when the process does not answer, or was started again meanwhile. */
  async #ask(each: BridgeProcess): Promise<[BridgeProcess, Metrics] | undefined> {
    const { starts, url } = each
    const metrics = await new BridgeApi(url).metrics().catch(() => undefined)
    if (!metrics || starts !== each.starts) return undefined
    this.#repeated.set(`${url} ${starts}`, sumOf(metrics, 'service_duplicates_total'))
    return [each, metrics]
  }

  #read(all: readonly Metrics[]): BridgeView {
    const sum = (name: string) => all.reduce((total, metrics) => total + (metrics.get(name) ?? 0), 0)
    return {
      isUp: true,
      state: all.map((metrics) => statesIn(metrics).get(instance)).find((state) => state !== undefined) ?? 'starting',
      inboxPending: sum('service_inbox_pending'),
      outboxPending: sum('service_outbox_pending'),
      repeated: [...this.#repeated.values()].reduce((total, value) => total + value, 0),
    }
  }
}

/** The state of each account that a process holds. */
function statesIn(metrics: Metrics): Map<string, string> {
  const series = [...metrics.keys()].map((each) =>
    /^service_instance_state\{.*instance="([^"]+)".*state="(\w+)"/.exec(each),
  )
  return new Map(series.flatMap((found) => (found ? [[found[1] ?? '', found[2] ?? '']] : [])))
}

function sumOf(metrics: Metrics, name: string): number {
  return [...metrics].filter(([series]) => series.startsWith(`${name}{`)).reduce((sum, [, value]) => sum + value, 0)
}
