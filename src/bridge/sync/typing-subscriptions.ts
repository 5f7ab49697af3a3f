// Keeps the network telling us who types: subscribes to the chats in which something happened in the last ten minutes.
//
// The network tells typing only to accounts that are online, so nothing is asked of it while the account is not. This part never
// changes whether the account is online: that would silence the owner's phone. A subscription is made once for each time that the
// account comes online, because it ends with the connection, and perhaps when the account goes offline. It needs no timers.

import type { InstanceName, Jid } from '../../core/ids.ts'
import type { NetworkSession } from '../../core/network.ts'
import type { PerInstance } from '../../core/per-instance.ts'
import type { Clock } from '../../lib/clock.ts'
import { getOrCreate } from '../../lib/keyed.ts'
import type { Log } from '../../lib/log.ts'

type Deps = {
  /** Undefined while the instance is not connected. */
  sessionOf: (instance: InstanceName) => Pick<NetworkSession, 'subscribeToPresence'> | undefined
  clock: Clock
  log: Log
}

type UsedChat = { until: number; isSubscribed: boolean }
/** The chats in the order in which they were last used. */
type Account = { chats: Map<Jid, UsedChat>; isOnline: boolean }

export const usedForMs = 10 * 60_000
/** Of an account with more chats in ten minutes, the chats that were used last are subscribed to. */
export const maxUsedChats = 100

export class TypingSubscriptions implements PerInstance {
  readonly usedForMs = usedForMs
  readonly #deps: Deps
  readonly #accounts = new Map<InstanceName, Account>()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** A customer has written in this chat at this time, or an agent did something in it. */
  used(instance: InstanceName, address: Jid, at: number): void {
    const { clock } = this.#deps
    const leftMs = usedForMs - Math.max(0, clock.now() - at)
    if (leftMs <= 0) return
    const account = getOrCreate(this.#accounts, instance, newAccount)
    const now = clock.monotonic()
    const chat = account.chats.get(address) ?? { until: now, isSubscribed: false }
    chat.until = Math.max(chat.until, now + leftMs)
    account.chats.delete(address)
    account.chats.set(address, chat)
    dropOld(account.chats, now)
    if (account.isOnline) this.#subscribe(instance, address, chat)
  }

  /** The account was shown online on its connection, which knows no subscription yet. */
  cameOnline(instance: InstanceName): void {
    const account = getOrCreate(this.#accounts, instance, newAccount)
    account.isOnline = true
    const now = this.#deps.clock.monotonic()
    for (const [address, chat] of account.chats) {
      chat.isSubscribed = false
      if (chat.until > now) this.#subscribe(instance, address, chat)
      else account.chats.delete(address)
    }
  }

  /** The account is shown offline, or its connection has ended. */
  wentOffline(instance: InstanceName): void {
    const account = this.#accounts.get(instance)
    if (account) account.isOnline = false
  }

  leave(instance: InstanceName): void {
    this.#accounts.delete(instance)
  }

  #subscribe(instance: InstanceName, address: Jid, chat: UsedChat): void {
    const session = this.#deps.sessionOf(instance)
    if (chat.isSubscribed || !session) return
    chat.isSubscribed = true
    session.subscribeToPresence(address).catch((err: unknown) => {
      // The next message tries again.
      chat.isSubscribed = false
      this.#deps.log.debug({ err, instance }, 'the network was not asked to tell who types')
    })
  }
}

function newAccount(): Account {
  return { chats: new Map(), isOnline: false }
}

/** Drops the chats whose time is over, and the oldest of too many. */
function dropOld(chats: Map<Jid, UsedChat>, now: number): void {
  for (const [address, { until }] of chats) {
    if (until > now && chats.size <= maxUsedChats) return
    chats.delete(address)
  }
}
