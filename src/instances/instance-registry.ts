// The instances as this process knows them; lists and health are answered from here, never from the database.

import { isActive } from '../core/instance.ts'
import type { InstanceStore } from '../storage/instance-store.ts'
import type { InstanceRow } from '../storage/schema.ts'

type Deps = { instances: Pick<InstanceStore, 'list'> }

export class InstanceRegistry {
  readonly #deps: Deps
  readonly #byName = new Map<string, InstanceRow>()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  async load(): Promise<void> {
    for (const row of await this.#deps.instances.list()) this.#byName.set(row.name, row)
  }

  list(): InstanceRow[] {
    return [...this.#byName.values()]
  }

  has(name: string): boolean {
    return this.#byName.has(name)
  }

  counts(): { active: number; total: number } {
    return { active: this.list().filter(({ state }) => isActive(state)).length, total: this.#byName.size }
  }
}
