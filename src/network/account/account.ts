// One linked account in this process: its keys, its credentials and the memory that outlives a connection.

import type { Jid } from '../../core/ids.ts'
import type { Hold, NodeHold } from '../../core/nodes/hold.ts'
import { BoundedMap } from '../../lib/bounded-map.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import type { SessionKeyStore } from '../../storage/stores/accounts/session-key-store.ts'
import { AccountKeys } from './account-keys.ts'
import { Addressing } from './addressing.ts'
import { ChatTimers } from './chat-timers.ts'
import { DeviceCache } from './device-cache.ts'
import { IdentityChanges } from './identity-changes.ts'
import type { CacheLimits } from './key-cache.ts'
import { LibraryCache } from '../library/library-cache.ts'
import { jidNormalizedUser } from '../library/library.ts'
import type { AuthenticationCreds, proto } from '../library/library.ts'

type Deps = {
  keys: Pick<SessionKeyStore, 'load' | 'save' | 'idsOf'>
  sessionId: string
  hold: Hold | NodeHold
  clock: Clock
  log: Log
  limits?: CacheLimits
  /** A write was refused, because another process holds the account now. Called before the connection is cut. */
  onFenced: (account: Account) => void
}

/** `isOver`: the call does not ring any more. `isAnswered`: the owner took or refused it on another device. */
export type KnownCall = { video: boolean; isAnswered: boolean; isOver: boolean }

/** The account's open connection. It is closed before the keys are. */
export type Connection = { close(): Promise<void>; cut(reason: string): void }

const hour = 60 * 60 * 1000

export class Account {
  readonly sessionId: string
  readonly keys: AccountKeys
  readonly devices: DeviceCache
  readonly timers: ChatTimers
  readonly addressing: Addressing
  readonly identities: IdentityChanges
  readonly retryCounts: LibraryCache
  readonly callOffers: LibraryCache
  readonly resendRequests: LibraryCache
  /** Fingerprints of the messages that were opened lately, including those that are not stored yet. */
  readonly opened: BoundedMap<true>
  readonly calls: BoundedMap<KnownCall>
  /** The messages that were sent lately, for recipients who ask for them again. */
  readonly sent: BoundedMap<proto.IMessage>
  connection: Connection | undefined

  constructor(deps: Deps) {
    const { clock } = deps
    this.sessionId = deps.sessionId
    this.keys = new AccountKeys({
      ...deps,
      onFenced: () => {
        deps.onFenced(this)
        this.connection?.cut('another process has taken this account over')
      },
    })
    this.devices = new DeviceCache({ keys: this.keys, clock })
    this.timers = new ChatTimers({ keys: this.keys, store: deps.keys, sessionId: deps.sessionId })
    this.addressing = new Addressing(this.keys)
    this.identities = new IdentityChanges(this.keys)
    this.retryCounts = new LibraryCache({ clock, max: 500, ttlMs: hour })
    this.callOffers = new LibraryCache({ clock, max: 50, ttlMs: hour / 12 })
    this.resendRequests = new LibraryCache({ clock, max: 200, ttlMs: hour })
    this.opened = new BoundedMap({ clock, max: 1_000, ttlMs: hour })
    this.calls = new BoundedMap({ clock, max: 50, ttlMs: hour })
    this.sent = new BoundedMap({ clock, max: 100, ttlMs: hour })
  }

  /** The stored credentials of a linked account, or undefined. */
  async loadCreds(): Promise<AuthenticationCreds | undefined> {
    const { creds } = await this.keys.get('creds', ['creds'])
    return isLinked(creds as AuthenticationCreds | undefined) ? (creds as AuthenticationCreds) : undefined
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.connection?.close()
    this.keys.close()
  }
}

/** With a pairing code the library stores a number before the account is linked. Only the signed identity counts. */
export function isLinked(creds: AuthenticationCreds | undefined): boolean {
  return creds?.me !== undefined && creds.account !== undefined
}

export function jidOf(creds: AuthenticationCreds): Jid {
  return jidNormalizedUser(creds.me?.id)
}
