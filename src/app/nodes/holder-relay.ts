// Passes on what the database says about the instances of this node. The membership is created before the parts that follow it.

import type { Hold } from '../../core/nodes/hold.ts'
import type { SeenNode } from '../../core/nodes/node.ts'
import type { Holder } from '../../nodes/membership/holder.ts'

type Listener = {
  holder: Holder
  /** A tenant or the settings of an instance changed at any node. */
  onSettings: () => void
}

export class HolderRelay implements Holder {
  #listener: Listener | undefined
  readonly #opened = Promise.withResolvers<undefined>()

  /** From now on instances are taken: the stored rows are ready for it. */
  open(): void {
    this.#opened.resolve(undefined)
  }

  connect(listener: Listener): void {
    this.#listener = listener
  }

  /** The database assigns instances as soon as this process is a node, before it has corrected what is stored. */
  async take(hold: Hold, lost: AbortSignal): Promise<void> {
    await this.#opened.promise
    await this.#connected().holder.take(hold, lost)
  }

  lose(hold: Hold): Promise<void> {
    return this.#connected().holder.lose(hold)
  }

  giveAway(hold: Hold, to: SeenNode, lost: AbortSignal): Promise<'tried' | 'not_now'> {
    return this.#connected().holder.giveAway(hold, to, lost)
  }

  isolated(is: boolean): void {
    this.#connected().holder.isolated(is)
  }

  settingsChanged(): void {
    this.#connected().onSettings()
  }

  #connected(): Listener {
    if (!this.#listener) throw new Error('an assignment changed before the application was complete')
    return this.#listener
  }
}
