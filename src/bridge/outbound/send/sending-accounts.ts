// What sending asks of the linked accounts: of those that this node holds, and of the records of all of them.

import type { InstanceName, Jid } from '../../../core/ids.ts'
import type { EventExtras, LifecycleEvent } from '../../../core/lifecycle/lifecycle.ts'
import type { NetworkSession } from '../../../core/network.ts'
import type { InstanceRow } from '../../../storage/stores/accounts/instance-rows.ts'

export type OutboundAccount = {
  readonly record: Readonly<InstanceRow>
  /** Only while the account is ready to send. */
  readonly session: NetworkSession | undefined
  /** Counts a blocked message and returns how many there are now. */
  countSpamBlock(): number
  announce(event: LifecycleEvent, extras: EventExtras): void
}

/** `receiving`: the account is logged in, and still receives the messages that waited for it. */
export type Readiness = 'ready' | 'receiving' | 'away'

export type AccountDirectory = { find(instance: InstanceName): OutboundAccount | undefined }

/** All instances of the service, whichever node holds them. */
export type AccountRoster = {
  /** From memory. */
  find(instance: InstanceName): Pick<OutboundAccount, 'record'> | undefined
  /** As it is stored now. */
  findCurrent(instance: InstanceName): Promise<Pick<OutboundAccount, 'record'> | undefined>
  /** Afterwards the memory is at most a second old. */
  freshen(): Promise<void>
}

export class SendingAccounts {
  readonly #accounts: AccountDirectory
  readonly #roster: Pick<AccountRoster, 'find'>
  #isPaused = false

  constructor(accounts: AccountDirectory, roster: Pick<AccountRoster, 'find'>) {
    this.#accounts = accounts
    this.#roster = roster
  }

  /** From now on no account is ready: messages are queued for the next process. */
  pause(): void {
    this.#isPaused = true
  }

  /** This node holds the instance. */
  isHere(instance: InstanceName): boolean {
    return this.#accounts.find(instance) !== undefined
  }

  recordOf(instance: InstanceName): Readonly<InstanceRow> | undefined {
    return this.#roster.find(instance)?.record
  }

  /** Undefined while the account cannot send. */
  sessionOf(instance: InstanceName): NetworkSession | undefined {
    return this.#isPaused ? undefined : this.#accounts.find(instance)?.session
  }

  isReady(instance: InstanceName): boolean {
    return this.sessionOf(instance) !== undefined
  }

  /** The account is logged in, and still receives the messages that waited for it. */
  isNearlyReady(instance: InstanceName): boolean {
    return this.#accounts.find(instance)?.record.state === 'connected'
  }

  readinessOf(instance: InstanceName): Readiness {
    if (this.isReady(instance)) return 'ready'
    return this.isNearlyReady(instance) ? 'receiving' : 'away'
  }

  ownJid(instance: InstanceName): Jid | null {
    return this.recordOf(instance)?.jid ?? null
  }

  /** Counts a blocked message and returns how many there are now. */
  countBlock(instance: InstanceName): number {
    return this.#accounts.find(instance)?.countSpamBlock() ?? 0
  }

  announce(instance: InstanceName, event: LifecycleEvent, extras: EventExtras): void {
    this.#accounts.find(instance)?.announce(event, extras)
  }
}
