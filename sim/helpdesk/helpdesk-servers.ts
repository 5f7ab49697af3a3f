// The listening servers of the simulated helpdesk: the web server, which can restart or refuse, and the object storage.

import type { FaultPlan } from './faults/fault-plan.ts'
import { Listener } from './http/listener.ts'
import type { SimClock } from '../shiftable-clock.ts'

type Deps = {
  clock: SimClock
  faults: Pick<FaultPlan, 'refusesConnections'>
  web: ConstructorParameters<typeof Listener>[0]
  storage: ConstructorParameters<typeof Listener>[0]
}

export class HelpdeskServers {
  readonly #clock: SimClock
  readonly #faults: Deps['faults']
  readonly #web: Listener
  readonly #storage: Listener
  #endPause: () => void = () => undefined
  #isOver = false

  constructor({ clock, faults, web, storage }: Deps) {
    this.#clock = clock
    this.#faults = faults
    this.#web = new Listener(web)
    this.#storage = new Listener(storage)
  }

  get url(): string {
    return this.#web.url
  }

  get storageUrl(): string {
    return this.#storage.url
  }

  async open(port: number): Promise<void> {
    await this.#web.open(port)
    await this.#storage.open(0)
  }

  /** Opens or closes the web server, as the faults demand. */
  async followFaults(): Promise<void> {
    if (this.#isOver || this.#faults.refusesConnections) await this.#web.close()
    else await this.#web.open()
  }

  /** Closes the web server for this time. Returns false when the helpdesk was disposed of before. */
  async pause(downMs: number): Promise<boolean> {
    await this.#web.close()
    if (this.#isOver) return false
    await new Promise<void>((resolve) => {
      const cancel = this.#clock.after(downMs, resolve)
      this.#endPause = () => {
        cancel()
        resolve()
      }
    })
    return true
  }

  /** Ends a running pause. After this call the web server does not open again. */
  endPause(): void {
    this.#isOver = true
    this.#endPause()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.endPause()
    await this.#web.close()
    await this.#storage.close()
  }
}
