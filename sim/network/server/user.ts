// A user of the network as the server knows it: phone number, LID, push name and devices.
import type { proto } from '../library.ts'
import type { PublishedBundle } from '../signal/signal-device.ts'
import { formatJid, LID_SERVER, PHONE_SERVER } from '../wire/jid.ts'
import type { Stanza } from '../wire/stanza.ts'

export type Addressing = 'pn' | 'lid'

/** One device of a user. A device must accept every stanza, in order, and must never throw. */
export interface Device {
  readonly user: User
  readonly id: number
  /** Returns a key bundle with a one-time prekey, or nothing while the server has no keys of the device. */
  takeBundle(): PublishedBundle | undefined
  /** `plain` is the message itself, from a simulated sender: two simulated devices need no ciphertext. */
  deliver(node: Stanza, plain?: proto.IMessage): void
}

export class User {
  phone: string
  readonly lid: string
  readonly devices = new Map<number, Device>()
  pushName: string
  picture: { id: string; jpeg: Buffer } | undefined
  about = ''
  /** While true, users who meet this user by LID, in a group or alone, do not learn the phone number. */
  hidesPhone = false
  /** While true, users who meet this user by phone number do not learn the LID, as if this user had none. */
  hidesLid = false
  /** While true, other users can only invite this user to groups. */
  refusesGroups = false
  /** While true, the server tells no client about this user's devices. */
  isUnnamed = false
  /** While true, the server hands out no keys of this user's devices. */
  hasNoKeys = false
  /** The timer with which this user begins new chats; `setAt` in unix seconds. */
  defaultTimer = { seconds: 0, setAt: 0 }
  /**
   * The end of a restriction on writing to strangers, in milliseconds since the epoch; undefined when there is none.
   */
  restrictedUntil: number | undefined
  /** The checked name of a business. Messages of the business carry it. */
  businessName: string | undefined
  /** Signs the list of the user's devices, as the primary device does. */
  signKeyIndexes: ((indexes: number[]) => Uint8Array) | undefined
  /** The salt from which the user's devices make their tokens for strangers. The phone hands it to its companions. */
  nctSalt: Buffer | undefined
  /**
   * Whether this account has moved to LIDs. The server then refuses the other kind of address. Undefined: it takes both.
   */
  isMigrated: boolean | undefined
  /** The users with whom this user has exchanged a message. */
  readonly correspondents = new Set<User>()

  constructor(phone: string, lid: string, pushName: string) {
    this.phone = phone
    this.lid = lid
    this.pushName = pushName
  }

  get pnJid(): string {
    return formatJid(this.phone, PHONE_SERVER)
  }

  get lidJid(): string {
    return formatJid(this.lid, LID_SERVER)
  }

  /** The address by phone number that other users may see. */
  get shownPhone(): string | undefined {
    return this.hidesPhone ? undefined : this.pnJid
  }

  /** The address by LID that other users may see. */
  get shownLid(): string | undefined {
    return this.hidesLid ? undefined : this.lidJid
  }

  /** The phone number that group members see: the whole number, or only its beginning and end. */
  groupPhone(): { phone_number: string } | { display_name: string } {
    if (!this.hidesPhone) return { phone_number: this.pnJid }
    const hidden = '∙'.repeat(Math.max(this.phone.length - 4, 0))
    return { display_name: `+${this.phone.slice(0, 2)}${hidden}${this.phone.slice(-2)}` }
  }

  jid(addressing: Addressing, device = 0): string {
    return addressing === 'lid' ? formatJid(this.lid, LID_SERVER, device) : formatJid(this.phone, PHONE_SERVER, device)
  }
}

/** The index of a device in the signed list of its owner's devices. It grows with every device that was ever linked. */
export function keyIndexOf(deviceId: number): number {
  return deviceId === 0 ? 0 : deviceId + 4
}

/** The name of a device in every Signal store of the simulator. It is the same for both addresses of the user. */
export function signalAddress(device: Device): string {
  return `${device.user.lid}:${device.id}`
}
