// Announces to the subscribers of every instance that this process is about to stop, or has started.

import { isActive } from '../core/instance.ts'
import type { InstanceState } from '../core/instance.ts'
import { sleep } from '../lib/clock.ts'
import type { Clock } from '../lib/clock.ts'
import type { Subject } from './announcer.ts'
import type { Courier } from './courier.ts'
import type { Lifecycle } from './lifecycle.ts'

type Deps = {
  lifecycle: Pick<Lifecycle, 'announce'>
  courier: Pick<Courier, 'settled'>
  instances: () => readonly Readonly<Subject & { state: InstanceState }>[]
  clock: Clock
}

/** Long enough for most sessions to be connected again. */
const startedAfterMs = 8000
/** How long stopping waits for subscribers. */
const restartingMs = 5000

export class ProcessEvents {
  readonly #deps: Deps
  #cancelStarted: () => void = () => undefined

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Announces the start after there was time to connect. */
  started(): void {
    const { clock, instances, lifecycle } = this.#deps
    this.#cancelStarted = clock.after(startedAfterMs, () => {
      for (const instance of instances()) {
        void lifecycle.announce(instance, 'backend_started', { connected: isActive(instance.state) })
      }
    })
  }

  /** Resolves when every subscriber was told, or after 5 s. */
  async restarting(): Promise<void> {
    const { clock, instances, lifecycle, courier } = this.#deps
    this.#cancelStarted()
    const told = Promise.all(instances().map((instance) => lifecycle.announce(instance, 'backend_restarting')))
    const over = new AbortController()
    const delivered = told.then((all) =>
      courier.settled(new Set(all.flatMap((one) => one.deliveries.map(({ id }) => id)))),
    )
    await Promise.race([delivered, sleep(clock, restartingMs, over.signal)])
    over.abort()
  }

  [Symbol.dispose](): void {
    this.#cancelStarted()
  }
}
