// Removes an instance: closes its account, keeps or gives up its sessions, and ends what is stored for it.

import type { Caller } from '../../core/audit.ts'
import type { InstanceName } from '../../core/ids.ts'
import type { Network } from '../../core/network.ts'
import { NotHeldError } from '../../core/nodes/hold.ts'
import type { HoldOf } from '../../core/nodes/hold.ts'
import type { Clock } from '../../lib/clock.ts'
import { ignoreRejection } from '../../lib/ignore.ts'
import { runAll } from '../../lib/run-all.ts'
import type { InstanceRow, KeptSession } from '../../storage/stores/accounts/instance-rows.ts'
import type { InstanceStore } from '../../storage/stores/accounts/instance-store.ts'
import type { InstanceRegistry } from '../instance-registry.ts'
import { logOutKeptSessions } from '../kept-sessions.ts'
import type { PendingLogouts } from '../pending-logouts.ts'
import type { Arrivals } from './arrivals.ts'
import type { InstanceAudits } from './instance-audits.ts'

/** The stored messages of an instance that is being deleted. */
export type InstanceMessages = {
  /** How many received events did not reach the helpdesk. */
  undelivered(name: InstanceName): Promise<number>
  /** How many messages of its history were not imported. */
  notImported(name: InstanceName): Promise<number>
  /** Outgoing messages of an instance of this name that was deleted before fail: the new instance must not send them. */
  failLeftovers(name: InstanceName): Promise<void>
  /** The instance is gone: its outgoing messages fail, and the record of its messages is removed. */
  forget(name: InstanceName): Promise<void>
}

export type RemovalDeps = {
  registry: InstanceRegistry
  instances: InstanceStore
  network: Pick<Network, 'forget' | 'release'>
  pendingLogouts: Pick<PendingLogouts, 'add'>
  holdOf: HoldOf
  arrivals: Arrivals
  messages: InstanceMessages
  clock: Clock
  /** Called after an instance was deleted. */
  onDeleted: (name: InstanceName) => Promise<void>
}

export class InstanceRemoval {
  readonly #deps: RemovalDeps & { audits: InstanceAudits }

  constructor(deps: RemovalDeps & { audits: InstanceAudits }) {
    this.#deps = deps
  }

  /** Removes the record. The session stays valid on the network and its keys are kept, unless it is logged out. */
  async remove(name: InstanceName, logout: boolean, actor: Caller): Promise<{ isLogoutPending: boolean }> {
    const { registry, instances, messages, arrivals, audits, holdOf } = this.#deps
    const account = registry.get(name)
    if (logout) await logOutKeptSessions(this.#deps, holdOf(name))
    const isLogoutPending = logout && (await account.logout(actor)) === 'pending'
    await account.close()
    try {
      await this.#stop(account.record)
      const undelivered = await messages.undelivered(name)
      const notImported = await messages.notImported(name)
      const facts = {
        logout,
        undelivered,
        not_imported: notImported,
        ...(isLogoutPending && { pending_logout: true }),
      }
      const keep = this.#sessionToKeep(account.record)
      await instances.remove(holdOf(name), keep, audits.of(actor, 'instance.delete', account.record, facts))
    } catch (error) {
      // The caller is told that the instance was not deleted, so the account must go on: here, unless another node has it.
      if (!(error instanceof NotHeldError)) registry.take({ ...account.record }).resurrect()
      arrivals.look()
      throw error
    }
    registry.remove(name)
    // Before its rows fail: the hold of the instance is worth nothing any more.
    arrivals.departed(name)
    await this.#afterRemoval(account.record)
    return { isLogoutPending }
  }

  /** Afterwards nothing more is received, so the count of undelivered events is final. */
  #stop({ name, sessionId }: Readonly<InstanceRow>): Promise<void> {
    const { registry, network } = this.#deps
    return runAll([
      async () => {
        if (sessionId !== null) await network.release(sessionId)
      },
      // Also when the step before fails: the parts take the instance again then.
      () => registry.leave(name),
    ])
  }

  /** The record is gone, and no second request repeats these steps: each runs even if one before it fails. */
  #afterRemoval(record: Readonly<InstanceRow>): Promise<void> {
    const { registry, messages, onDeleted } = this.#deps
    const { name } = record
    return runAll([
      () => messages.forget(name),
      // Once more: messages that fail with the instance are counted.
      () => registry.leave(name),
      () => onDeleted(name),
      () => this.#letGo(record),
    ])
  }

  /** Removes the keys of an open pairing and of a replaced session. */
  async #letGo({ name, pairingSessionId, previousSessionId }: Readonly<InstanceRow>): Promise<void> {
    const { network } = this.#deps
    for (const sessionId of [pairingSessionId, previousSessionId]) {
      if (sessionId === null) continue
      // The instance is deleted even if this fails: keys without a record are removed within a day.
      await network.forget({ sessionId, instance: name, isLeaving: true }).catch(ignoreRejection)
    }
  }

  #sessionToKeep(record: Readonly<InstanceRow>): KeptSession | null {
    const { name, ownerTag, sessionId, jid, linkedAt, networkProxy } = record
    if (sessionId === null || jid === null) return null
    return { sessionId, name, ownerTag, jid, keptAt: this.#deps.clock.now(), linkedAt, networkProxy }
  }
}
