// The use cases behind the instance endpoints. Work on one name runs in order; no name waits for another.

import type { AuditAction, AuditRecord } from '../core/audit.ts'
import { BridgeError } from '../core/errors.ts'
import type { InstanceName } from '../core/ids.ts'
import type { WebhookSubscriber } from '../core/lifecycle.ts'
import type { Clock } from '../lib/clock.ts'
import { KeyedLanes } from '../lib/keyed-lanes.ts'
import type { Network } from '../core/network.ts'
import type { InstanceStore } from '../storage/stores/accounts/instance-store.ts'
import { blankInstance } from '../storage/schema.ts'
import type { InstanceChanges, InstanceRow, KeptSession } from '../storage/schema.ts'
import type { InstanceRegistry } from './instance-registry.ts'
import { destroyKeptSessions, keepSessionsMs } from './kept-sessions.ts'
import type { LinkedAccount } from './linked-account.ts'

export type InstanceSettings = {
  ownerTag?: string
  inboxId?: number
  eventsWebhookUrl?: string
  eventsWebhookSubscribers?: readonly WebhookSubscriber[]
  spamguardEnabled?: boolean
  lastQrMsgId?: number
}

type Deps = {
  registry: InstanceRegistry
  instances: InstanceStore
  network: Pick<Network, 'forget' | 'release'>
  epoch: () => number
  clock: Clock
  /** Called after an instance was deleted. */
  onDeleted: () => Promise<void>
  /** Called after settings were changed. */
  onChanged: () => void
  messages: InstanceMessages
}

/** The stored messages of an instance that is being deleted. */
export type InstanceMessages = {
  /** How many received events did not reach the helpdesk. */
  undelivered(name: InstanceName): Promise<number>
  /** The instance is gone: its outgoing messages fail, and the record of its messages is removed. */
  forget(name: InstanceName): Promise<void>
}

export class InstanceService {
  readonly #deps: Deps
  readonly #lanes = new KeyedLanes()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Creates the instance and opens its pairing; an existing one gets the settings and is asked to become ready. */
  create(
    name: string,
    settings: InstanceSettings,
    resume: boolean,
  ): Promise<{ created: boolean; account: LinkedAccount }> {
    return this.#lanes.run(name, async () => {
      const existing = this.#deps.registry.find(name)
      if (!existing) return { created: true, account: await this.#createNew(name, settings, resume) }
      await this.#change(existing, settings)
      await existing.requestReady()
      return { created: false, account: existing }
    })
  }

  patch(name: string, settings: InstanceSettings): Promise<LinkedAccount> {
    return this.#lanes.run(name, async () => {
      const account = this.#deps.registry.get(name)
      await this.#change(account, settings)
      return account
    })
  }

  /** Removes the record. The session stays valid on the network and its keys are kept, unless it is logged out. */
  remove(name: string, logout: boolean): Promise<void> {
    return this.#lanes.run(name, async () => {
      const { registry, instances, network, messages, epoch, onDeleted } = this.#deps
      const account = registry.get(name)
      if (logout) await account.logout()
      await account.close()
      // From here on nothing more is received, so the count of undelivered events is final.
      if (account.record.session_id !== null) await network.release(account.record.session_id)
      try {
        await registry.leave(name)
        const facts = { logout, undelivered: await messages.undelivered(name) }
        const keep = this.#sessionToKeep(account.record)
        await instances.remove(epoch(), name, keep, this.#audit('instance.delete', account.record, facts))
      } catch (error) {
        // The caller hears that the instance was not deleted, so the account must live on.
        await (await registry.take({ ...account.record })).resurrect()
        throw error
      }
      registry.remove(name)
      try {
        await messages.forget(name)
      } finally {
        // Once more: messages that fail with the instance are counted.
        await registry.leave(name)
      }
      await onDeleted()
      await this.#letGo(account.record)
      if (logout) await destroyKeptSessions(this.#deps, name)
    })
  }

  /** A pairing that was open and a session that was replaced are worthless now. */
  async #letGo({ pairing_session_id, previous_session_id }: Readonly<InstanceRow>): Promise<void> {
    const { network } = this.#deps
    for (const worthless of [pairing_session_id, previous_session_id]) {
      // The instance is deleted whatever becomes of this: keys that nothing refers to are removed within a day.
      if (worthless !== null) await network.forget(worthless).catch(() => undefined)
    }
  }

  async #createNew(name: string, settings: InstanceSettings, resume: boolean): Promise<LinkedAccount> {
    const { registry, instances, epoch } = this.#deps
    const ownerTag = settings.ownerTag ?? ''
    const kept = resume ? await this.#resumable(name, ownerTag) : undefined
    const row = this.#newRow(name, settings, kept)
    const fields = Object.keys(toColumns(settings)).sort()
    await instances.insert(epoch(), row, this.#audit('instance.create', row, { fields, resume }))
    const account = await registry.take(row)
    if (kept) await account.boot(0)
    else await account.requestPairing()
    return account
  }

  async #resumable(name: string, ownerTag: string): Promise<KeptSession> {
    const { instances, clock } = this.#deps
    const [kept] = await instances.keptSessions(name, clock.now() - keepSessionsMs)
    if (kept?.owner_tag === ownerTag) return kept
    const why = kept ? 'belongs to another owner_tag' : 'is not kept'
    throw new BridgeError(
      'SERVICE_NOTHING_TO_RESUME',
      `a session of ${JSON.stringify(name)} ${why}: create it without resume`,
    )
  }

  async #change(account: LinkedAccount, settings: InstanceSettings): Promise<void> {
    const columns = toColumns(settings)
    const fields = Object.keys(columns).sort()
    if (fields.length === 0) return
    await account.change(columns, this.#audit('instance.patch', { ...account.record, ...columns }, { fields }))
    this.#deps.onChanged()
  }

  #newRow(name: string, settings: InstanceSettings, kept: KeptSession | undefined): InstanceRow {
    const at = this.#deps.clock.now()
    const linked = kept && { jid: kept.jid, last_jid: kept.jid, session_id: kept.session_id, paired_at: at }
    const state = kept ? 'connecting' : 'qr_pending'
    return { ...blankInstance(name, at), state, last_event_at: at, ...linked, ...toColumns(settings) }
  }

  #sessionToKeep({ name, owner_tag, session_id, jid }: Readonly<InstanceRow>): KeptSession | null {
    if (session_id === null || jid === null) return null
    return { session_id, name, owner_tag, jid, kept_at: this.#deps.clock.now() }
  }

  #audit(
    action: AuditAction,
    { name, owner_tag }: Pick<InstanceRow, 'name' | 'owner_tag'>,
    metadata: NonNullable<AuditRecord['metadata']>,
  ): AuditRecord {
    return {
      at: this.#deps.clock.now(),
      actor: 'api',
      action,
      instance: name,
      ownerTag: owner_tag,
      target: name,
      metadata,
    }
  }
}

function toColumns(settings: InstanceSettings): InstanceChanges {
  const { ownerTag, inboxId, eventsWebhookUrl, eventsWebhookSubscribers, spamguardEnabled, lastQrMsgId } = settings
  return {
    ...(ownerTag !== undefined && { owner_tag: ownerTag }),
    ...(inboxId !== undefined && { inbox_id: inboxId }),
    ...(eventsWebhookUrl !== undefined && { events_webhook_url: eventsWebhookUrl }),
    ...(eventsWebhookSubscribers !== undefined && {
      events_webhook_subscribers: JSON.stringify(eventsWebhookSubscribers),
    }),
    ...(spamguardEnabled !== undefined && { spamguard_enabled: spamguardEnabled ? 1 : 0 }),
    ...(lastQrMsgId !== undefined && { last_qr_msg_id: lastQrMsgId }),
  }
}
