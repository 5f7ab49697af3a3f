// Remembers the timers of disappearing messages in chats with people, stored with the account's keys.
//
// A timer is stored under every known address of the person, and read under every address that is known by then. The newest
// setting wins: an old message that arrives late does not undo it. A message that does not date its timer counts only while
// no dated setting is known. (The timer of a group is not here: the server tells it with the group's members.)

import { lidJid, phoneJid } from '../../core/address.ts'
import type { Person } from '../../core/address.ts'
import type { Timer, ToldTimer } from '../../core/chat-timer.ts'
import type { Jid } from '../../core/ids.ts'
import type { SessionKeyStore } from '../../storage/stores/accounts/session-key-store.ts'
import type { AccountKeys } from './account-keys.ts'
import { completePeople } from './complete-people.ts'

type Deps = {
  keys: Pick<AccountKeys, 'get' | 'getInStep' | 'setInStep' | 'runStep' | 'askStorage'>
  store: Pick<SessionKeyStore, 'idsOf'>
  sessionId: string
}

/** `isUntold`: the timer comes from the account's default or from the history, and the helpdesk does not know it yet. */
type StoredTimer = Timer & { isUntold?: true }

type Read = (kind: string, ids: readonly string[]) => Promise<Record<string, unknown>>

const timerKind = 'chat-timer'
/** Chats without a timer that were in the history. They are many, and are not read for every message. */
const oldKind = 'old-chat'
/** How many old chats one commit stores. */
const oldPerStep = 500

export class ChatTimers {
  readonly #deps: Deps
  /** The addresses that may have a timer. They are few, so that most chats need no read. */
  #timed: Promise<Set<Jid>> | undefined

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Undefined when no timer was ever told in this chat. */
  async of(person: Person): Promise<Timer | undefined> {
    const timed = await this.#addresses()
    if (timed.size === 0) return undefined
    const { keys } = this.#deps
    const read: Read = (kind, ids) => keys.get(kind, ids)
    return this.#newest(await addressesOf(person, read), read)
  }

  /** Inside a step: stores the timer if it is the newest. Returns whether that is a change that people should be told. */
  async learn(person: Person, { isSetting, ...told }: ToldTimer): Promise<boolean> {
    const { keys } = this.#deps
    const read: Read = (kind, ids) => keys.getInStep(kind, ids)
    const addresses = await addressesOf(person, read)
    const known = await this.#newest(addresses, read)
    if (known && !isNewer({ ...told, isSetting }, known)) return this.#tellLate(addresses, known, told)
    const isSame = known?.seconds === told.seconds && known.isUntold === undefined
    if (!isSame || known.setAt !== told.setAt) await this.#store(addresses, told)
    return !isSame && (known !== undefined || isSetting || told.seconds > 0)
  }

  /** Stores a timer that no message of the chat has told yet. The next message with this timer counts as a change. */
  async note(person: Person, timer: Timer): Promise<void> {
    const { keys } = this.#deps
    await keys.runStep(async () => {
      const read: Read = (kind, ids) => keys.getInStep(kind, ids)
      const addresses = await addressesOf(person, read)
      const known = await this.#newest(addresses, read)
      if (!known || timer.setAt > known.setAt) await this.#store(addresses, { ...timer, isUntold: true })
    })
  }

  /** Notes that these chats are older than the account's link. */
  async noteOld(people: readonly Person[]): Promise<void> {
    const { keys } = this.#deps
    for (let at = 0; at < people.length; at += oldPerStep) {
      const addresses = people.slice(at, at + oldPerStep).flatMap(namedAddresses)
      const old = Object.fromEntries(addresses.map((address) => [address, true]))
      await keys.runStep(() => keys.setInStep({ [oldKind]: old }))
    }
  }

  /** Whether the chat was in the history. */
  async isOld(person: Person): Promise<boolean> {
    const read: Read = (kind, ids) => this.#deps.keys.get(kind, ids)
    return Object.keys(await read(oldKind, await addressesOf(person, read))).length > 0
  }

  /** A message shows the timer that was noted before. */
  async #tellLate(addresses: readonly Jid[], known: StoredTimer, told: Timer): Promise<boolean> {
    const { isUntold = false, ...timer } = known
    if (!isUntold || told.seconds !== known.seconds) return false
    await this.#store(addresses, timer)
    return true
  }

  async #store(addresses: readonly Jid[], timer: StoredTimer): Promise<void> {
    const timed = await this.#addresses()
    for (const address of addresses) timed.add(address)
    await this.#deps.keys.setInStep({ [timerKind]: Object.fromEntries(addresses.map((address) => [address, timer])) })
  }

  async #newest(addresses: readonly Jid[], read: Read): Promise<StoredTimer | undefined> {
    const timed = await this.#addresses()
    const stored = addresses.filter((address) => timed.has(address))
    if (stored.length === 0) return undefined
    const found = Object.values(await read(timerKind, stored)) as StoredTimer[]
    return found.toSorted((one, other) => other.setAt - one.setAt || other.toldAt - one.toldAt)[0]
  }

  #addresses(): Promise<Set<Jid>> {
    const { keys, store, sessionId } = this.#deps
    this.#timed ??= keys.askStorage(() => store.idsOf(sessionId, timerKind)).then((ids) => new Set(ids))
    return this.#timed
  }
}

async function addressesOf(person: Person, read: Read): Promise<Jid[]> {
  const whole = { ...person }
  await completePeople([whole], read)
  return namedAddresses(whole)
}

function namedAddresses({ phone, lid }: Person): Jid[] {
  return [...(phone === null ? [] : [phoneJid(phone)]), ...(lid === null ? [] : [lidJid(lid)])]
}

function isNewer(told: ToldTimer, known: Timer): boolean {
  if (told.setAt === 0) return known.setAt === 0 && told.toldAt >= known.toldAt
  return told.setAt > known.setAt || (told.isSetting && told.setAt === known.setAt)
}
