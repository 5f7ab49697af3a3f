// Passes on the duties of this process. Parts that ask for them are created before the parts that know them.

import type { InstanceName } from '../../core/ids.ts'
import type { Duties } from '../../core/nodes/duties.ts'

export class DutyRelay implements Duties {
  readonly #duties: () => Duties

  constructor(duties: () => Duties) {
    this.#duties = duties
  }

  holds(instance: InstanceName): boolean {
    return this.#duties().holds(instance)
  }

  held(): readonly InstanceName[] | 'all' {
    return this.#duties().held()
  }

  isFirst(): boolean {
    return this.#duties().isFirst()
  }

  sharers(): number {
    return this.#duties().sharers()
  }
}
