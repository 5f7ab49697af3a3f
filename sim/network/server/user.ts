// A user of the network as the server knows it: phone number, LID, push name and devices.
import type { proto } from '../library.ts'
import type { PublishedBundle } from '../signal/signal-device.ts'
import { formatJid, LID_SERVER, PHONE_SERVER } from '../wire/jid.ts'
import type { Stanza } from '../wire/stanza.ts'

export type Addressing = 'pn' | 'lid'

/**
 * Anything that can be addressed as one device of a user. A device must take every stanza given to it, in order, and
 * must never throw: what goes wrong inside is its own affair.
 */
export interface Device {
  readonly user: User
  readonly id: number
  /** A key bundle with a one-time prekey that is handed out once, or nothing while the device has none on the server. */
  takeBundle(): PublishedBundle | undefined
  /** `plain` comes along when the sender is simulated too: two simulated devices need no ciphertext between them. */
  deliver(node: Stanza, plain?: proto.IMessage): void
}

export class User {
  readonly phone: string
  readonly lid: string
  readonly devices = new Map<number, Device>()
  pushName: string
  picture: { id: string; jpeg: Buffer } | undefined
  about = ''
  /** Who meets this user by LID, in a group or alone, does not learn the phone number, until this is false again. */
  hidesPhone = false
  /** Who meets this user by phone number is not told the LID, as of somebody who has none yet, until this is false again. */
  hidesLid = false
  /** The server says nothing about this user's devices, whoever asks, until this is false again. */
  isUnnamed = false
  /** The server has no keys of this user's devices to hand out, until this is false again. */
  hasNoKeys = false
  /** What this account is told when it asks how long it may not write to strangers, in milliseconds; nothing when undefined. */
  restrictedUntil: number | undefined

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

  /** The address by phone number as others may see it. */
  get shownPhone(): string | undefined {
    return this.hidesPhone ? undefined : this.pnJid
  }

  /** The address by LID as others may see it. */
  get shownLid(): string | undefined {
    return this.hidesLid ? undefined : this.lidJid
  }

  /** What members of a group see of the number: all of it, or only how it begins and ends. */
  groupPhone(): { phone_number: string } | { display_name: string } {
    if (!this.hidesPhone) return { phone_number: this.pnJid }
    const hidden = '∙'.repeat(Math.max(this.phone.length - 4, 0))
    return { display_name: `+${this.phone.slice(0, 2)}${hidden}${this.phone.slice(-2)}` }
  }

  jid(addressing: Addressing, device = 0): string {
    return addressing === 'lid' ? formatJid(this.lid, LID_SERVER, device) : formatJid(this.phone, PHONE_SERVER, device)
  }
}

/** The one name a device has in every Signal store of the simulator, whichever way it was addressed. */
export function signalAddress(device: Device): string {
  return `${device.user.lid}:${device.id}`
}
