// The names of all instances, as the database had them some seconds ago. Callbacks need no token, so names that do not exist must
// not cost a query each.

import type { InstanceName } from '../core/ids.ts'
import type { Clock } from '../lib/clock.ts'

type Deps = {
  /** Asks the database. */
  read: () => Promise<readonly InstanceName[]>
  clock: Pick<Clock, 'monotonic'>
}

type Reading = { names: Promise<ReadonlySet<InstanceName>>; until: number }

const freshMs = 5000

export class KnownNames {
  readonly #deps: Deps
  #last: Reading | undefined

  constructor(deps: Deps) {
    this.#deps = deps
  }

  async has(name: InstanceName): Promise<boolean> {
    const now = this.#deps.clock.monotonic()
    if (!this.#last || this.#last.until <= now) this.#last = { names: this.#read(), until: now + freshMs }
    const reading = this.#last
    try {
      return (await reading.names).has(name)
    } catch (error) {
      if (this.#last === reading) this.#last = undefined
      throw error
    }
  }

  /** An instance may have been created at another node. */
  forget(): void {
    this.#last = undefined
  }

  async #read(): Promise<ReadonlySet<InstanceName>> {
    return new Set(await this.#deps.read())
  }
}
