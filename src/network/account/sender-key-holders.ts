// Remembers which devices have our key of a group, and renews the key.
//
// A device is noted before the frame with the key leaves: from then on it may have the key. It counts as a holder when the
// server has acknowledged that frame. If the frame is lost, the next message carries the key again. When a device that may
// have the key does not belong to the group any more, the key is dropped, and the next message carries a new one for all.

import type { Person } from '../../core/address.ts'
import type { Jid } from '../../core/ids.ts'
import { SendError } from '../../core/network.ts'
import { writeReason } from '../../core/reasons/reason.ts'
import { jidDecode } from '../library/library.ts'
import type { AuthenticationCreds } from '../library/library.ts'
import type { ConnectionKeys } from './connection-keys.ts'
import type { Marks } from './identity-changes.ts'

/** False: the device may have the key. Otherwise it is a holder: the mark of its identity, or true without a mark. */
export type Holders = Readonly<Record<Jid, string | boolean>>

type Holder = { jid: Jid; user: string }
/** What was known when the key was given. */
type Given = { marks: Marks; renewals: number }

type Deps = { connectionKeys: ConnectionKeys; creds: AuthenticationCreds }

export const senderKeyHoldersKind = 'sender-key-memory'
/** How often a message is sealed again because the key was renewed meanwhile. */
export const mostRenewals = 3

export class SenderKeyHolders {
  readonly #deps: Deps
  /** How often the key of a group was renewed over this connection. */
  readonly #renewals = new Map<Jid, number>()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  async of(group: Jid): Promise<Holders> {
    return ((await this.#keys.get(senderKeyHoldersKind, [group]))[group] ?? {}) as Holders
  }

  /** Changes when the key of the group is renewed. */
  renewalsOf(group: Jid): number {
    return this.#renewals.get(group) ?? 0
  }

  /** To be called before the frame with the key leaves. */
  async noteGiven(group: Jid, devices: readonly Jid[]): Promise<void> {
    await this.#change(group, (holders) => {
      for (const jid of devices) holders[jid] ??= false
    })
  }

  /** To be called when the message that carried the key is acknowledged. */
  async confirm(group: Jid, devices: readonly Holder[], { marks, renewals }: Given): Promise<void> {
    await this.#change(group, (holders) => {
      // The devices got the old key.
      if (renewals !== this.renewalsOf(group)) return
      for (const { jid, user } of devices) holders[jid] = marks[user] ?? true
    })
  }

  /** To be called before the key is given to a device that asked for it. The next message carries the key too. */
  async giveAgain(group: Jid, device: Jid): Promise<void> {
    await this.#change(group, (holders) => {
      holders[device] = false
    })
  }

  /** Drops the key. The next message makes a new one. */
  async renew(group: Jid): Promise<void> {
    await this.#deps.connectionKeys.runStep(() => this.#renewInStep(group))
  }

  /** Inside the step that stores who has left the group. */
  async renewWithoutInStep(group: Jid, people: readonly Person[]): Promise<void> {
    const gone = new Set(people.flatMap(({ phone, lid }) => [phone, lid]))
    const holders = await this.#inStep(group)
    if (Object.keys(holders).some((jid) => gone.has(jidDecode(jid)?.user ?? null))) await this.#renewInStep(group)
  }

  async #renewInStep(group: Jid): Promise<void> {
    const { connectionKeys, creds } = this.#deps
    this.#renewals.set(group, this.renewalsOf(group) + 1)
    const own = [creds.me?.id, creds.me?.lid].flatMap((jid) => senderKeyName(group, jid) ?? [])
    await connectionKeys.setInStep({
      [senderKeyHoldersKind]: { [group]: null },
      'sender-key': Object.fromEntries(own.map((name) => [name, null])),
    })
  }

  async #change(group: Jid, change: (holders: Record<Jid, string | boolean>) => void): Promise<void> {
    const { connectionKeys } = this.#deps
    await connectionKeys.runStep(async () => {
      const holders = { ...(await this.#inStep(group)) }
      change(holders)
      await connectionKeys.setInStep({ [senderKeyHoldersKind]: { [group]: holders } })
    })
  }

  async #inStep(group: Jid): Promise<Holders> {
    return ((await this.#keys.getInStep(senderKeyHoldersKind, [group]))[group] ?? {}) as Holders
  }

  get #keys() {
    return this.#deps.connectionKeys.account
  }
}

/** Whether the device has the key, and still has the identity that got it. */
export function isHolder(holders: Holders, { jid, user }: Holder, marks: Marks): boolean {
  return holders[jid] === (marks[user] ?? true)
}

/** The name under which the library stores the key that a member has in a group. */
export function senderKeyName(group: Jid, member: Jid | undefined): string | undefined {
  const { user, device = 0, domainType = 0 } = jidDecode(member) ?? {}
  if (user === undefined) return undefined
  return `${group}::${domainType === 0 ? user : `${user}_${domainType}`}::${device}`
}

/**
 * To be called before a message is sealed. While members come and go, it would be sealed again and again, and would occupy its
 * chat for as long. The message can be tried again later.
 */
export function limitRenewals(renewals: number): void {
  if (renewals > mostRenewals) throw new SendError('not_sent', writeReason('groupChanging'))
}
