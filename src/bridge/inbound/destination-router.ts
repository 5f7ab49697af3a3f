// Says to which helpdesk an instance delivers now, and waits while that helpdesk is held.
//
// A destination is used only after the helpdesk inbox was identified in this process: another Chatwoot may answer at the same
// URL, and its conversations have the same ids as those of the one before.

import { accessKey, DownstreamError, inboxPlace } from '../../core/downstream.ts'
import type { Destination, Downstream, HelpdeskInbox, InboxAccess } from '../../core/downstream.ts'
import type { InstanceName } from '../../core/ids.ts'
import { orAbort } from '../../lib/abort.ts'
import type { HeldDestinations } from './held-destinations.ts'

export type Identities = {
  /** Undefined when the helpdesk must be asked. */
  recall(access: InboxAccess): Destination | undefined
  /** Rejects with a DownstreamError when the helpdesk cannot be asked. */
  identify(access: InboxAccess): Promise<Destination>
  /** The next `identify` asks the helpdesk again. */
  forget(access: InboxAccess): void
}

type Deps = {
  /** Null while no helpdesk is configured for the instance. */
  accessOf: (instance: InstanceName) => Promise<InboxAccess | null>
  identities: Identities
  held: HeldDestinations
  downstream: Pick<Downstream, 'helpdesk'>
}

type Target = { instance: InstanceName; destination: Destination; helpdesk: HelpdeskInbox }
/** `hasProbed` is true when a probe has found the helpdesk working while the caller waited. */
type OpenTarget = Target & { hasProbed: boolean }
type Rest = <T>(wait: () => Promise<T>) => Promise<T>

export class DestinationRouter {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /**
   * Resolves when the instance has a destination that is not held. Rejects when the signal aborts. `rest` runs the wait for a
   * held destination, which may take days.
   */
  async waitForTarget(instance: InstanceName, rest: Rest, signal: AbortSignal): Promise<OpenTarget> {
    const { accessOf, held, identities } = this.#deps
    let hasProbed = false
    for (;;) {
      signal.throwIfAborted()
      const access = await accessOf(instance)
      const key = access ? accessKey(access) : `${instance} (no helpdesk configured)`
      if (!access) this.#holdUnconfigured(instance, key)
      let released = held.waitFor(key, instance)
      if (access && !released) {
        const known = identities.recall(access)
        const target = known ? this.#targetAt(instance, known) : await orAbort(this.#identify(instance, access), signal)
        if (target) return { ...target, hasProbed }
        released = held.waitFor(key, instance)
      }
      if (!released) continue
      const release = orAbort(released, signal)
      if ((await rest(() => release)) === 'works') hasProbed = true
    }
  }

  /** Whether a helpdesk inbox is configured for the instance. Does not ask the helpdesk. */
  async isConfigured(instance: InstanceName): Promise<boolean> {
    return (await this.#deps.accessOf(instance)) !== null
  }

  /** The destination of the instance, held or not; null when there is none. */
  async find(instance: InstanceName): Promise<Target | null> {
    const access = await this.#deps.accessOf(instance)
    return access && this.#targetOf(instance, access)
  }

  /** The helpdesk takes nothing: every delivery to it waits until a probe succeeds. Another helpdesk may answer the probe. */
  hold(instance: InstanceName, access: InboxAccess, reason: string): void {
    const { held, identities } = this.#deps
    identities.forget(access)
    const probe = async () => {
      await identities.identify(access)
    }
    held.hold({ key: accessKey(access), destination: inboxPlace(access), instance, reason, probe })
  }

  /** Undefined when the helpdesk inbox cannot be identified and is held. No message is the cause of such a failure. */
  async #identify(instance: InstanceName, access: InboxAccess): Promise<Target | undefined> {
    try {
      return await this.#targetOf(instance, access)
    } catch (error) {
      if (!(error instanceof DownstreamError) || error.failure === 'transient') throw error
      this.hold(instance, access, error.message)
      return undefined
    }
  }

  async #targetOf(instance: InstanceName, access: InboxAccess): Promise<Target> {
    return this.#targetAt(instance, await this.#deps.identities.identify(access))
  }

  #targetAt(instance: InstanceName, destination: Destination): Target {
    return { instance, destination, helpdesk: this.#deps.downstream.helpdesk(destination) }
  }

  #holdUnconfigured(instance: InstanceName, key: string): void {
    const reason = 'no helpdesk is configured for the instance: set DOWNSTREAM_* or its tenant'
    const probe = async () => {
      if (!(await this.#deps.accessOf(instance))) throw new Error(reason)
    }
    this.#deps.held.hold({ key, destination: key, instance, reason, probe })
  }
}
