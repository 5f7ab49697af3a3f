// What a node counts about its work with other nodes. One process alone counts nothing here, except for its beats.

import { Counter, Histogram } from 'prom-client'
import type { Registry } from 'prom-client'
import { moveReasons } from '../core/nodes/cluster-view.ts'
import type { MoveReason } from '../core/nodes/cluster-view.ts'

/** answered: by the owner. refused: it does not hold the instance. failed: it did not answer. */
const forwardOutcomes = ['answered', 'refused', 'failed'] as const
type ForwardOutcome = (typeof forwardOutcomes)[number]

export class NodeMetrics {
  readonly #moves: Counter<'reason'>
  readonly #forwards: Counter<'outcome'>
  readonly #standIns: Counter<'status'>
  readonly #cells: Counter
  readonly #beatsFailed: Counter
  readonly #beatSeconds: Histogram

  constructor(registry: Registry) {
    const registers = [registry]
    this.#moves = new Counter({
      ...{ name: 'service_instance_moves_total', labelNames: ['reason'], registers },
      help: 'Instances that this node gave to a node, by the reason',
    })
    this.#forwards = new Counter({
      ...{ name: 'service_forwards_total', labelNames: ['outcome'], registers },
      help: 'Requests that this node handed to another node, by what became of them',
    })
    this.#standIns = new Counter({
      ...{ name: 'service_stand_in_callbacks_total', labelNames: ['status'], registers },
      help: 'Callbacks that this node answered because their owner did not, by the HTTP status',
    })
    this.#cells = new Counter({
      ...{ name: 'service_cells_started_total', registers },
      help: 'Processes that this node started for instances whose nodes died twice',
    })
    this.#beatsFailed = new Counter({
      ...{ name: 'service_beats_failed_total', registers },
      help: 'Beats of this node that did not go through in time',
    })
    this.#beatSeconds = new Histogram({
      ...{
        name: 'service_beat_seconds',
        registers,
        buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 1.5],
      },
      help: 'How long the beats of this node took that went through',
    })
    for (const reason of moveReasons) this.#moves.inc({ reason }, 0)
    for (const outcome of forwardOutcomes) this.#forwards.inc({ outcome }, 0)
  }

  moved(reason: MoveReason, instances: number): void {
    this.#moves.inc({ reason }, instances)
  }

  cellStarted(): void {
    this.#cells.inc()
  }

  beat(ms: number): void {
    this.#beatSeconds.observe(ms / 1000)
  }

  beatFailed(): void {
    this.#beatsFailed.inc()
  }

  forwarded(outcome: ForwardOutcome): void {
    this.#forwards.inc({ outcome })
  }

  stoodIn(status: number): void {
    this.#standIns.inc({ status: String(status) })
  }
}
