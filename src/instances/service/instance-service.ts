// The use cases behind the instance endpoints. Work on one name runs in order; no name waits for another.

import type { Caller } from '../../core/audit.ts'
import { historyDisabled } from '../../core/history/history-disabled.ts'
import type { InstanceName } from '../../core/ids.ts'
import { KeyedLanes } from '../../lib/queues/keyed-lanes.ts'
import type { LinkedAccount } from '../linked-account.ts'
import { InstanceAudits } from './instance-audits.ts'
import type { AuditFacts } from './instance-audits.ts'
import { InstanceCreation } from './instance-creation.ts'
import type { CreationDeps } from './instance-creation.ts'
import { InstanceRemoval } from './instance-removal.ts'
import type { RemovalDeps } from './instance-removal.ts'
import { changesOf, fieldsOf } from './instance-settings.ts'
import type { InstanceSettings } from './instance-settings.ts'

type Deps = CreationDeps &
  RemovalDeps & {
    /** Called after settings were changed. */
    onChanged: () => void
  }

export class InstanceService {
  readonly #deps: Deps
  readonly #lanes = new KeyedLanes()
  readonly #audits: InstanceAudits
  readonly #creation: InstanceCreation
  readonly #removal: InstanceRemoval

  constructor(deps: Deps) {
    this.#deps = deps
    const audits = new InstanceAudits(deps.clock)
    this.#audits = audits
    this.#creation = new InstanceCreation({ ...deps, audits, change: (...change) => this.#change(...change) })
    this.#removal = new InstanceRemoval({ ...deps, audits })
  }

  /** Creates the instance and opens its pairing; an existing one gets the settings and is asked to become ready. */
  create(
    name: InstanceName,
    settings: InstanceSettings,
    resume: boolean,
    actor: Caller,
  ): Promise<{ created: boolean; account: LinkedAccount }> {
    return this.#lanes.run(name, async () => {
      this.#assertAllowed(settings)
      const existing = this.#deps.registry.find(name)
      if (!existing) return { created: true, account: await this.#creation.create(name, settings, resume, actor) }
      await this.#change(existing, settings, actor)
      await existing.requestReady()
      return { created: false, account: existing }
    })
  }

  patch(name: InstanceName, settings: InstanceSettings, actor: Caller): Promise<LinkedAccount> {
    return this.#lanes.run(name, async () => {
      const account = this.#deps.registry.get(name)
      this.#assertAllowed(settings)
      await this.#change(account, settings, actor)
      return account
    })
  }

  /** The helpdesk inbox of the instance is set up. `inboxId` is null when its tenant names the helpdesk inbox. */
  connectInbox(name: InstanceName, inboxId: number | null, facts: AuditFacts, actor: Caller): Promise<void> {
    return this.#lanes.run(name, async () => {
      const account = this.#deps.registry.get(name)
      const changes = inboxId === null ? {} : { inboxId }
      await account.change(changes, this.#audits.of(actor, 'instance.inbox', account.record, facts))
      this.#deps.onChanged()
    })
  }

  /** Removes the record. The session stays valid on the network and its keys are kept, unless it is logged out. */
  remove(name: InstanceName, logout: boolean, actor: Caller): Promise<{ isLogoutPending: boolean }> {
    return this.#lanes.run(name, () => this.#removal.remove(name, logout, actor))
  }

  async #change(account: LinkedAccount, settings: InstanceSettings, actor: Caller): Promise<void> {
    const fields = fieldsOf(settings)
    if (fields.length === 0) return
    const changes = changesOf(settings, account.record)
    await account.change(
      changes,
      this.#audits.of(actor, 'instance.patch', { ...account.record, ...changes }, { fields }),
    )
    this.#deps.onChanged()
  }

  #assertAllowed({ isHistoryEnabled }: InstanceSettings): void {
    if (isHistoryEnabled && !this.#deps.history.enabled) throw historyDisabled()
  }
}
