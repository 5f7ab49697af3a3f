// Says to which helpdesk an instance delivers now, and waits while that helpdesk is held.

import { accessKey } from '../../core/downstream.ts'
import type { Destination, Downstream, HelpdeskInbox } from '../../core/downstream.ts'
import type { InstanceName } from '../../core/ids.ts'
import { orAbort } from '../../lib/abort.ts'
import type { HeldDestinations } from './held-destinations.ts'

type Deps = {
  /** Null while the instance has no destination. */
  route: (instance: InstanceName) => Promise<Destination | null>
  held: HeldDestinations
  downstream: Pick<Downstream, 'helpdesk'>
}

/** `hasProbed` is true when a probe has found the helpdesk working while the caller waited. */
type OpenTarget = { destination: Destination; helpdesk: HelpdeskInbox; hasProbed: boolean }

export class DestinationRouter {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Resolves when the instance has a destination that is not held. Rejects when the signal aborts. */
  async waitForTarget(instance: InstanceName, signal: AbortSignal): Promise<OpenTarget> {
    const { route, held, downstream } = this.#deps
    let hasProbed = false
    for (;;) {
      signal.throwIfAborted()
      const destination = await route(instance)
      const key = destination ? accessKey(destination) : `${instance} (no helpdesk configured)`
      if (!destination) this.#holdUnconfigured(instance, key)
      const released = held.waitFor(key, instance)
      if (destination && !released) return { destination, helpdesk: downstream.helpdesk(destination), hasProbed }
      if (released && (await orAbort(released, signal)) === 'works') hasProbed = true
    }
  }

  /** The destination of the instance, held or not; null when there is none. */
  async find(instance: InstanceName): Promise<Pick<OpenTarget, 'destination' | 'helpdesk'> | null> {
    const destination = await this.#deps.route(instance)
    return destination && { destination, helpdesk: this.#deps.downstream.helpdesk(destination) }
  }

  /** The helpdesk takes nothing: every delivery to it waits until a probe succeeds. */
  hold(instance: InstanceName, { destination, helpdesk }: Omit<OpenTarget, 'hasProbed'>, reason: string): void {
    const probe = () => helpdesk.probe()
    this.#deps.held.hold({ key: accessKey(destination), destination: destination.key, instance, reason, probe })
  }

  #holdUnconfigured(instance: InstanceName, key: string): void {
    const reason = 'no helpdesk is configured for the instance: set DOWNSTREAM_* or its tenant'
    const probe = async () => {
      if (!(await this.#deps.route(instance))) throw new Error(reason)
    }
    this.#deps.held.hold({ key, destination: key, instance, reason, probe })
  }
}
