// Finds users and devices by any of their addresses.
import type { SeededRandom } from '../seeded-random.ts'
import { LID_SERVER, parseJid, PHONE_SERVER, type Jid } from '../wire/jid.ts'
import { User, type Device } from './user.ts'

export class Directory {
  readonly #random: SeededRandom
  readonly #byPhone = new Map<string, User>()
  readonly #byLid = new Map<string, User>()

  constructor(random: SeededRandom) {
    this.#random = random
  }

  register(phone: string, lid: string | undefined, pushName: string): User {
    if (!/^\d{5,15}$/.test(phone)) throw new Error(`a phone number is 5 to 15 digits, not "${phone}"`)
    if (this.#byPhone.has(phone)) throw new Error(`${phone} is already on the network`)
    if (lid !== undefined && !/^\d{5,20}$/.test(lid)) throw new Error(`a LID is 5 to 20 digits, not "${lid}"`)
    const user = new User(phone, lid ?? this.#freshLid(), pushName)
    if (this.#byLid.has(user.lid)) throw new Error(`the LID ${user.lid} is already taken`)
    this.#byPhone.set(phone, user)
    this.#byLid.set(user.lid, user)
    return user
  }

  /** The user gets another phone number and keeps the LID. The old number is free again. */
  changePhone(user: User, phone: string): void {
    if (this.#byPhone.has(phone)) throw new Error(`${phone} is already on the network`)
    this.#byPhone.delete(user.phone)
    user.phone = phone
    this.#byPhone.set(phone, user)
  }

  /** Finds a user by phone number or by any address. */
  find(address: string): User | undefined {
    return address.includes('@') ? this.#at(parseJid(address)) : this.#byPhone.get(address)
  }

  device(address: string): Device | undefined {
    if (!address.includes('@')) return undefined
    const jid = parseJid(address)
    return this.#at(jid)?.devices.get(jid.device)
  }

  #at({ user, server }: Jid): User | undefined {
    if (server === LID_SERVER) return this.#byLid.get(user)
    return server === PHONE_SERVER ? this.#byPhone.get(user) : undefined
  }

  #freshLid(): string {
    const lid = `1${this.#random.digits(14)}`
    return this.#byLid.has(lid) ? this.#freshLid() : lid
  }
}
