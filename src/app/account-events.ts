// Passes on what happens to accounts. The registry and the lifecycle are created before the parts that listen to them.

import type { InstanceName } from '../core/ids.ts'
import type { PerInstance } from '../core/per-instance.ts'
import { ignoreRejection } from '../lib/ignore.ts'
import { runAll } from '../lib/run-all.ts'
import type { Announcement } from '../lifecycle/announcer.ts'

type Listeners = {
  /** Every part that keeps memory per instance. */
  perInstance: readonly PerInstance[]
  /** The state or the QR code of an instance changed. */
  onChange: (instance: InstanceName) => void
  /** A lifecycle event is stored. */
  onAnnounced: (announcement: Announcement) => void
}

export class AccountEvents implements PerInstance {
  #listeners: Listeners | undefined

  connect(listeners: Listeners): void {
    this.#listeners = listeners
  }

  /** After a failure no part remembers the instance, so that the caller can try again. */
  async take(instance: InstanceName): Promise<void> {
    try {
      for (const part of this.#connected().perInstance) await part.take?.(instance)
    } catch (error) {
      // The caller hears why the instance was not taken.
      await this.leave(instance).catch(ignoreRejection)
      throw error
    }
  }

  /** Resolves when no part works on the instance any more. */
  async rest(instance: InstanceName): Promise<void> {
    await Promise.all(this.#connected().perInstance.map(async (part) => part.rest?.(instance)))
  }

  /** Every part leaves the instance, also after one part has failed. */
  leave(instance: InstanceName): Promise<void> {
    return runAll(this.#connected().perInstance.map((part) => () => part.leave(instance)))
  }

  onChange(instance: InstanceName): void {
    this.#connected().onChange(instance)
  }

  onAnnounced(announcement: Announcement): void {
    this.#connected().onAnnounced(announcement)
  }

  #connected(): Listeners {
    if (!this.#listeners) throw new Error('an account changed before the application was complete')
    return this.#listeners
  }
}
