// The use cases behind the instance endpoints. Work on one name runs in order; no name waits for another.

import type { AuditAction, AuditRecord, Caller } from '../core/audit.ts'
import { changeOwnSettings } from '../core/chosen-settings.ts'
import type { OwnSettings, OwnSettingsChange } from '../core/chosen-settings.ts'
import { BridgeError } from '../core/errors.ts'
import { historyDisabled } from '../core/history/history-disabled.ts'
import type { InstanceName } from '../core/ids.ts'
import type { Clock } from '../lib/clock.ts'
import { KeyedLanes } from '../lib/queues/keyed-lanes.ts'
import type { Network } from '../core/network.ts'
import { NotHeldError } from '../core/nodes/hold.ts'
import type { HoldOf, NodeHold } from '../core/nodes/hold.ts'
import { StorageError } from '../storage/engine/statement.ts'
import type { InstanceStore } from '../storage/stores/accounts/instance-store.ts'
import { blankInstance, changedColumns } from '../storage/stores/accounts/instance-rows.ts'
import type { InstanceChanges, InstanceRow, KeptSession } from '../storage/stores/accounts/instance-rows.ts'
import type { InstanceRegistry } from './instance-registry.ts'
import { keepSessionsMs, logOutKeptSessions } from './kept-sessions.ts'
import type { LinkedAccount } from './linked-account.ts'
import type { PendingLogouts } from './pending-logouts.ts'
import { ignoreRejection } from '../lib/ignore.ts'
import { runAll } from '../lib/run-all.ts'

/** What a caller can set. */
export type InstanceSettings = Pick<
  InstanceChanges,
  | 'ownerTag'
  | 'inboxId'
  | 'eventsWebhookUrl'
  | 'eventsWebhookSubscribers'
  | 'isSpamguardEnabled'
  | 'lastQrMessageId'
  | 'networkProxy'
  | 'outgoingRateLimit'
  | 'isHistoryEnabled'
  | 'historyDays'
> & {
  /** What changes of the settings that the instance has of its own. */
  own?: OwnSettingsChange
}

type AuditFacts = NonNullable<AuditRecord['metadata']>

type Deps = {
  registry: InstanceRegistry
  instances: InstanceStore
  network: Pick<Network, 'forget' | 'release'>
  pendingLogouts: Pick<PendingLogouts, 'add'>
  holdOf: HoldOf
  nodeHold: () => NodeHold
  arrivals: Arrivals
  clock: Clock
  /** Called after an instance was deleted. */
  onDeleted: (name: InstanceName) => Promise<void>
  /** Called after settings were changed. */
  onChanged: () => void
  messages: InstanceMessages
  /** Whether new instances import the history, and for how many days. While it is off, no instance may import it. */
  history: { enabled: boolean; days: number }
}

/** How instances that are created or deleted here become live, and stop being live. */
export type Arrivals = {
  /** Between `begin` and its disposal a request opens the instance itself, as soon as it is live. */
  begin(name: InstanceName): Disposable
  /** The record was stored before: learns whether it is an instance of this node. */
  seek(name: InstanceName): Promise<void>
  /** The record is stored: makes the instance live. */
  arrive(row: InstanceRow): Promise<LinkedAccount>
  /** The record is deleted, and the account is closed. */
  departed(name: InstanceName): void
  /** It is not known whether the instance is still here: the database tells. */
  look(): void
}

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

export class InstanceService {
  readonly #deps: Deps
  readonly #lanes = new KeyedLanes()

  constructor(deps: Deps) {
    this.#deps = deps
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
      if (!existing) return { created: true, account: await this.#createNew(name, settings, resume, actor) }
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
      await account.change(changes, this.#audit(actor, 'instance.inbox', account.record, facts))
      this.#deps.onChanged()
    })
  }

  /** Removes the record. The session stays valid on the network and its keys are kept, unless it is logged out. */
  remove(name: InstanceName, logout: boolean, actor: Caller): Promise<{ isLogoutPending: boolean }> {
    return this.#lanes.run(name, async () => {
      const { registry, instances, messages, arrivals, holdOf } = this.#deps
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
        await instances.remove(holdOf(name), keep, this.#audit(actor, 'instance.delete', account.record, facts))
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
    })
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

  async #createNew(
    name: InstanceName,
    settings: InstanceSettings,
    resume: boolean,
    actor: Caller,
  ): Promise<LinkedAccount> {
    const begun = this.#deps.arrivals.begin(name)
    try {
      const row = await this.#store(name, settings, resume, actor)
      const account = await this.#deps.arrivals.arrive(row)
      if (row.sessionId === null) await account.requestPairing()
      else await account.boot(0)
      return account
    } finally {
      begun[Symbol.dispose]()
    }
  }

  async #store(name: InstanceName, settings: InstanceSettings, resume: boolean, actor: Caller): Promise<InstanceRow> {
    const { instances, arrivals, registry } = this.#deps
    // Stored by an earlier request whose commit was not answered.
    const left = await instances.find(name)
    if (!left) return this.#insert(name, settings, resume, actor)
    await arrivals.seek(name)
    const account = registry.find(name)
    // Stored before the account is known here: after a failure, the next request finds no account with other settings.
    if (!account) return this.#changeStored(left, settings, actor)
    await this.#change(account, settings, actor)
    return account.record
  }

  async #insert(name: InstanceName, settings: InstanceSettings, resume: boolean, actor: Caller): Promise<InstanceRow> {
    const { instances, messages, arrivals, nodeHold } = this.#deps
    await messages.failLeftovers(name)
    const kept = resume ? await this.#resumable(name, settings.ownerTag ?? '') : undefined
    const row = this.#newRow(name, settings, kept)
    const facts = { fields: fieldsOf(settings), resume }
    try {
      await instances.insert(nodeHold(), row, this.#audit(actor, 'instance.create', row, facts))
    } catch (error) {
      const isTaken = error instanceof StorageError && error.failure === 'constraint' && (await instances.find(name))
      // It may have been stored.
      arrivals.look()
      if (!isTaken) throw error
      // Another node has created it meanwhile.
      throw new NotHeldError(name)
    }
    return row
  }

  async #resumable(name: InstanceName, ownerTag: string): Promise<KeptSession> {
    const { instances, clock } = this.#deps
    const [kept] = await instances.keptSessions(name, clock.now() - keepSessionsMs)
    if (kept?.ownerTag === ownerTag) return kept
    const why = kept ? 'belongs to another owner_tag' : 'is not kept'
    throw new BridgeError(
      'SERVICE_NOTHING_TO_RESUME',
      `a session of ${JSON.stringify(name)} ${why}: create it without resume`,
    )
  }

  async #change(account: LinkedAccount, settings: InstanceSettings, actor: Caller): Promise<void> {
    const fields = fieldsOf(settings)
    if (fields.length === 0) return
    const changes = changesOf(settings, account.record)
    await account.change(changes, this.#audit(actor, 'instance.patch', { ...account.record, ...changes }, { fields }))
    this.#deps.onChanged()
  }

  /** Changes a record that has no account in this process. */
  async #changeStored(row: InstanceRow, settings: InstanceSettings, actor: Caller): Promise<InstanceRow> {
    const { instances, holdOf } = this.#deps
    const changes = changesOf(settings, row)
    const changed = { ...row, ...changes }
    const fields = fieldsOf(settings)
    if (fields.length === 0) return row
    const audits = [this.#audit(actor, 'instance.patch', changed, { fields })]
    await instances.update(holdOf(row.name), changes, { audits })
    return changed
  }

  #newRow(name: InstanceName, settings: InstanceSettings, kept: KeptSession | undefined): InstanceRow {
    const { clock, history } = this.#deps
    const at = clock.now()
    const state = kept ? 'connecting' : 'qr_pending'
    const fresh = { state, lastEventAt: at, isHistoryEnabled: history.enabled, historyDays: history.days } as const
    const blank = blankInstance(name, at)
    return { ...blank, ...fresh, ...(kept && resumedFrom(kept, at)), ...changesOf(settings, blank) }
  }

  #assertAllowed({ isHistoryEnabled }: InstanceSettings): void {
    if (isHistoryEnabled && !this.#deps.history.enabled) throw historyDisabled()
  }

  #sessionToKeep(record: Readonly<InstanceRow>): KeptSession | null {
    const { name, ownerTag, sessionId, jid, linkedAt, networkProxy } = record
    if (sessionId === null || jid === null) return null
    return { sessionId, name, ownerTag, jid, keptAt: this.#deps.clock.now(), linkedAt, networkProxy }
  }

  #audit(
    actor: Caller,
    action: AuditAction,
    { name, ownerTag }: Pick<InstanceRow, 'name' | 'ownerTag'>,
    metadata: AuditFacts,
  ): AuditRecord {
    return {
      at: this.#deps.clock.now(),
      actor,
      action,
      instance: name,
      ownerTag,
      target: name,
      metadata,
    }
  }
}

/** What a new record takes over from the session that it resumes. The session never connects without its proxy. */
function resumedFrom({ jid, sessionId, keptAt, linkedAt, networkProxy }: KeptSession, at: number) {
  const linked = { linkedJid: jid, linkedAt: linkedAt ?? keptAt }
  return { jid, lastJid: jid, sessionId, pairedAt: at, ...linked, networkProxy }
}

function changesOf({ own, ...settings }: InstanceSettings, record: { ownSettings: OwnSettings }): InstanceChanges {
  return own ? { ...settings, ownSettings: changeOwnSettings(record.ownSettings, own) } : settings
}

/** The names that the audit log shows. */
function fieldsOf({ own = {}, ...settings }: InstanceSettings): string[] {
  return [...changedColumns(settings), ...Object.keys(own)].sort()
}
