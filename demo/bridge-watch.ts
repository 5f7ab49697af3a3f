// What the service says of itself: the state of its account, what waits, and what it recognised as a repetition.

import type { Stage } from './stage.ts'
import type { BridgeView } from './view.ts'

const everyMs = 300

export class BridgeWatch {
  readonly #stage: Stage
  #view: BridgeView = { isUp: false, state: 'starting', inboxPending: 0, outboxPending: 0, repeated: 0 }
  /** The counters of a process begin at zero. These are the sums of the processes before it. */
  #repeatedBefore = 0
  #repeatedNow = 0
  #start = 0
  #timer: NodeJS.Timeout | undefined

  constructor(stage: Stage) {
    this.#stage = stage
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
    const { bridge, api } = this.#stage
    if (!bridge.isReady) return
    const { starts } = bridge
    const metrics = await api.metrics().catch(() => undefined)
    if (!metrics || starts !== bridge.starts) return
    const before = JSON.stringify(this.#view)
    const states = [...metrics.keys()].map((series) => /^service_instance_state\{.*state="(\w+)"/.exec(series)?.[1])
    this.#view = {
      isUp: true,
      state: states.find((state) => state !== undefined) ?? 'starting',
      inboxPending: metrics.get('service_inbox_pending') ?? 0,
      outboxPending: metrics.get('service_outbox_pending') ?? 0,
      repeated: this.#repeated(starts, sumOf(metrics, 'service_duplicates_total')),
    }
    if (JSON.stringify(this.#view) !== before) this.#stage.changed()
  }

  #repeated(start: number, now: number): number {
    if (start !== this.#start) {
      this.#repeatedBefore += this.#repeatedNow
      this.#start = start
    }
    this.#repeatedNow = now
    return this.#repeatedBefore + now
  }
}

function sumOf(metrics: ReadonlyMap<string, number>, name: string): number {
  return [...metrics].filter(([series]) => series.startsWith(`${name}{`)).reduce((sum, [, value]) => sum + value, 0)
}
