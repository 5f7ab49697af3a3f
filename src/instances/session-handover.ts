// Decides which stored session the account uses. A scanned session takes over at once; the one before is kept until the
// new one has logged in.
//
// The keys of a pairing are stored before the network is told of them. A process killed in between leaves keys that the
// network does not know and refuses; then the account goes back to the session before.

import type { AuditRecord, Caller } from '../core/audit.ts'
import type { Jid } from '../core/ids.ts'
import { lastErrorOf, reasonOf } from '../core/last-error.ts'
import type { Network } from '../core/network.ts'
import type { Hold } from '../core/nodes/hold.ts'
import type { Closing } from '../core/network/closing.ts'
import { writeReason } from '../core/reasons/reason.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { InstanceStore } from '../storage/stores/accounts/instance-store.ts'
import type { PendingLogout } from '../storage/stores/accounts/pending-logout-store.ts'
import type { AccountRecord } from './account-record.ts'
import { linkAgeAfterLogin } from './link-age.ts'
import { logOutKeptSessions } from './kept-sessions.ts'
import type { PendingLogouts } from './pending-logouts.ts'
import type { Companions } from './record-writer.ts'

type Deps = {
  account: AccountRecord
  network: Pick<Network, 'forget' | 'storedJid'>
  instances: Pick<InstanceStore, 'keptSessions' | 'giveUpKeptSessions'>
  pendingLogouts: Pick<PendingLogouts, 'add'>
  hold: Hold
  clock: Clock
  log: Log
}

type SessionId = string | null

const loggedOut: Closing = { cause: 'invalidated', code: null, reason: writeReason('logoutAsked') }

export class SessionHandover {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** The scanned session becomes the session of this account; returns a session that is not needed any more. */
  adopt(sessionId: string, jid: Jid, historyDays: number | null): SessionId {
    const { account, clock } = this.#deps
    const { name, ownerTag, sessionId: current, previousSessionId: proven } = account.row
    const at = clock.now()
    const previous = proven ?? current
    const linked = {
      sessionId,
      pairingSessionId: null,
      previousSessionId: previous,
      jid,
      lastJid: jid,
      historyAskedDays: historyDays ?? 0,
    }
    // Until the login these two describe the session that may have to come back.
    const since = previous === null ? { pairedAt: at, readyAt: null } : {}
    const who = { instance: name, ownerTag, target: name }
    const audit: AuditRecord = { at, actor: 'system', action: 'instance.paired', ...who }
    account.apply('scanned', { changes: { ...linked, ...since, retryAt: null }, audits: [audit] })
    return proven === null ? null : current
  }

  /** The session has logged in; after its first login, returns how to remove the session before. */
  prove(): (() => Promise<void>) | undefined {
    const { account, hold, clock } = this.#deps
    const { previousSessionId: previous, readyAt } = account.row
    const age = linkAgeAfterLogin(account.row, clock.now())
    if (age) void account.save(age)
    if (previous === null && readyAt !== null) return undefined
    if (previous !== null) {
      void account.save({ previousSessionId: null, pairedAt: clock.now(), readyAt: null })
    }
    return async () => {
      await this.forget(previous)
      await this.#quietly('sessions kept under this name could not be logged out', () =>
        logOutKeptSessions(this.#deps, hold),
      )
    }
  }

  /** The network refuses the session: the account goes back to the one before. False when there is none. */
  async revert(closing: Closing): Promise<boolean> {
    const { account, network, log } = this.#deps
    const { name, sessionId: refused, previousSessionId: previous } = account.row
    const jid = previous === null ? null : await network.storedJid({ sessionId: previous, instance: name })
    if (jid === null) return false
    log.warn({ instance: name, ...reasonOf(closing) }, 'a new link was refused, going back to the one before')
    const why = { ...closing, reason: writeReason('linkRefused', { reason: closing.reason }) }
    const changes = { sessionId: previous, previousSessionId: null, jid, lastJid: jid, ...lastErrorOf(why) }
    account.apply('reverted', { changes, why })
    await this.forget(refused)
    return true
  }

  /** The account has no session any more; returns those it had. */
  end(closing: Closing): SessionId[] {
    const { sessionId, previousSessionId } = this.#deps.account.row
    this.#end(closing)
    return [sessionId, previousSessionId]
  }

  /** The account gives its sessions up. Returns their logouts, which are stored with the record; the current one is first. */
  leave(actor: Caller): PendingLogout[] {
    const { account, clock } = this.#deps
    const { name: instance, ownerTag, sessionId, previousSessionId, networkProxy } = account.row
    const at = clock.now()
    const given = [sessionId, previousSessionId].filter((id) => id !== null)
    const logouts = given.map((id) => ({ sessionId: id, instance, ownerTag, askedAt: at, networkProxy }))
    const audit: AuditRecord = { at, actor, action: 'instance.logout', instance, ownerTag, target: instance }
    this.#end(loggedOut, { logouts, audits: [audit] })
    return logouts
  }

  #end(closing: Closing, companions: Companions = {}): void {
    const { account, clock } = this.#deps
    const { jid, lastJid } = account.row
    const noSession = { sessionId: null, previousSessionId: null, jid: null, pairedAt: null, readyAt: null }
    const changes = {
      ...noSession,
      lastQrMessageId: 0,
      retryAt: null,
      lastJid: jid ?? lastJid,
      unlinkedAt: clock.now(),
    }
    account.apply('invalidated', { changes: { ...changes, ...lastErrorOf(closing) }, why: closing, ...companions })
  }

  /** Waits until the record without these sessions is stored, then removes their keys. */
  async forget(...sessionIds: readonly SessionId[]): Promise<void> {
    const { account, network } = this.#deps
    await account.stored()
    for (const sessionId of sessionIds) {
      if (sessionId === null) continue
      await this.#quietly('the keys of an old session could not be removed yet', () =>
        network.forget({ sessionId, instance: account.row.name }),
      )
    }
  }

  /** For work that may fail: keys without a record are removed within a day. */
  async #quietly(failure: string, work: () => Promise<void>): Promise<void> {
    const { account, log } = this.#deps
    try {
      await work()
    } catch (err) {
      log.warn({ err, instance: account.row.name }, failure)
    }
  }
}
