// Creates an instance: stores its record and opens its pairing, or resumes the session that was kept under its name.

import type { Caller } from '../../core/audit.ts'
import { BridgeError } from '../../core/errors.ts'
import type { InstanceName } from '../../core/ids.ts'
import { NotHeldError } from '../../core/nodes/hold.ts'
import type { HoldOf, NodeHold } from '../../core/nodes/hold.ts'
import type { Clock } from '../../lib/clock.ts'
import { StorageError } from '../../storage/engine/statement.ts'
import { blankInstance } from '../../storage/stores/accounts/instance-rows.ts'
import type { InstanceRow, KeptSession } from '../../storage/stores/accounts/instance-rows.ts'
import type { InstanceStore } from '../../storage/stores/accounts/instance-store.ts'
import type { InstanceRegistry } from '../instance-registry.ts'
import { keepSessionsMs } from '../kept-sessions.ts'
import type { LinkedAccount } from '../linked-account.ts'
import type { Arrivals } from './arrivals.ts'
import type { InstanceAudits } from './instance-audits.ts'
import type { InstanceMessages } from './instance-removal.ts'
import { changesOf, fieldsOf } from './instance-settings.ts'
import type { InstanceSettings } from './instance-settings.ts'

export type CreationDeps = {
  registry: Pick<InstanceRegistry, 'find'>
  instances: InstanceStore
  holdOf: HoldOf
  nodeHold: () => NodeHold
  arrivals: Arrivals
  messages: Pick<InstanceMessages, 'failLeftovers'>
  clock: Clock
  /** Whether new instances import the history, and for how many days. While it is off, no instance may import it. */
  history: { enabled: boolean; days: number }
}

type Deps = CreationDeps & {
  audits: InstanceAudits
  change: (account: LinkedAccount, settings: InstanceSettings, actor: Caller) => Promise<void>
}

export class InstanceCreation {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** For a name that has no account in this process. */
  async create(name: InstanceName, settings: InstanceSettings, resume: boolean, actor: Caller): Promise<LinkedAccount> {
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
    const { instances, arrivals, registry, change } = this.#deps
    // Stored by an earlier request whose commit was not answered.
    const left = await instances.find(name)
    if (!left) return this.#insert(name, settings, resume, actor)
    await arrivals.seek(name)
    const account = registry.find(name)
    // Stored before the account is known here: after a failure, the next request finds no account with other settings.
    if (!account) return this.#changeStored(left, settings, actor)
    await change(account, settings, actor)
    return account.record
  }

  async #insert(name: InstanceName, settings: InstanceSettings, resume: boolean, actor: Caller): Promise<InstanceRow> {
    const { instances, messages, arrivals, audits, nodeHold } = this.#deps
    await messages.failLeftovers(name)
    const kept = resume ? await this.#resumable(name, settings.ownerTag ?? '') : undefined
    const row = this.#newRow(name, settings, kept)
    const facts = { fields: fieldsOf(settings), resume }
    try {
      await instances.insert(nodeHold(), row, audits.of(actor, 'instance.create', row, facts))
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

  /** Changes a record that has no account in this process. */
  async #changeStored(row: InstanceRow, settings: InstanceSettings, actor: Caller): Promise<InstanceRow> {
    const { instances, audits, holdOf } = this.#deps
    const changes = changesOf(settings, row)
    const changed = { ...row, ...changes }
    const fields = fieldsOf(settings)
    if (fields.length === 0) return row
    const audit = audits.of(actor, 'instance.patch', changed, { fields })
    await instances.update(holdOf(row.name), changes, { audits: [audit] })
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
}

/** What a new record takes over from the session that it resumes. The session never connects without its proxy. */
function resumedFrom({ jid, sessionId, keptAt, linkedAt, networkProxy }: KeptSession, at: number) {
  const linked = { linkedJid: jid, linkedAt: linkedAt ?? keptAt }
  return { jid, lastJid: jid, sessionId, pairedAt: at, ...linked, networkProxy }
}
