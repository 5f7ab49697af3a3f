// Routes receipts, typing and presence between devices, and removes confirmed messages from the books.
import { isGroupJid, isLidJid, parseJid } from '../wire/jid.ts'
import { child, children, stanza, unixSeconds, type Attributes, type Stanza } from '../wire/stanza.ts'
import { CompanionDevice } from './companion-device.ts'
import type { Directory } from './directory.ts'
import type { Addressing, Device, User } from './user.ts'
import type { SimClock } from '../../shiftable-clock.ts'

type Deps = {
  directory: Directory
  clock: SimClock
  groupAddressing: (jid: string) => Addressing
  /** True when a fault loses this receipt. */
  isLost: (device: CompanionDevice, receipt: Stanza) => boolean
}

/** Receipts that confirm a message and so remove it from the books. */
const CONFIRMING = new Set([undefined, 'inactive', 'sender', 'peer_msg', 'read', 'read-self', 'played'])

const FOR_THE_PHONE = new Set<string | undefined>(['peer_msg', 'hist_sync', 'server-error'])

export function receiptIds(receipt: Stanza): string[] {
  const rest = children(child(receipt, 'list'), 'item').map((item) => item.attrs.id)
  return [receipt.attrs.id, ...rest].filter((id) => id !== undefined)
}

export class ReceiptSwitch {
  readonly #directory: Directory
  readonly #clock: SimClock
  readonly #groupAddressing: (jid: string) => Addressing
  readonly #isLost: Deps['isLost']

  constructor({ directory, clock, groupAddressing, isLost }: Deps) {
    this.#directory = directory
    this.#clock = clock
    this.#groupAddressing = groupAddressing
    this.#isLost = isLost
  }

  fromCompanion(device: CompanionDevice, receipt: Stanza): void {
    if (this.#isLost(device, receipt)) return
    const { id, to, type, participant } = receipt.attrs
    device.connection?.send(stanza('ack', { id, class: 'receipt', from: to, type, participant }))
    if (CONFIRMING.has(type))
      for (const one of receiptIds(receipt)) device.books.settle('message', { id: one }, 'receipt')
    if (type === 'sender') return
    this.forward(device, receipt)
    if (type === 'read') this.#toOwnDevices(device, receipt)
  }

  /** Delivers a receipt to the author of the message, in the form that the author sees. */
  forward(from: Device, receipt: Stanza): void {
    const { to = '', participant, type, recipient } = receipt.attrs
    if (type === 'read-self') {
      this.#toOwnDevices(from, receipt)
      return
    }
    const author = isGroupJid(to) ? participant : to
    const user = author === undefined ? undefined : this.#directory.find(author)
    if (!user) return
    const addressing = isGroupJid(to) ? this.#groupAddressing(to) : isLidJid(to) ? 'lid' : 'pn'
    const sender = from.user.jid(addressing, from.id)
    // A device that asks for a message of another own device names the chat.
    const seen: Attributes = isGroupJid(to) ? { from: to, participant: sender } : { from: sender, recipient }
    const shownType = type === 'inactive' ? undefined : type
    const node = stanza(
      'receipt',
      { id: receipt.attrs.id, type: shownType, t: receipt.attrs.t ?? unixSeconds(this.#clock), ...seen },
      Array.isArray(receipt.content) ? receipt.content : undefined,
    )
    // A retry request goes to the device that sent the message, a request to the own phone to device 0, any other
    // receipt to all devices.
    const single = type === 'retry' ? parseJid(author ?? to).device : FOR_THE_PHONE.has(type) ? 0 : undefined
    const only = single === undefined ? undefined : user.devices.get(single)
    for (const device of only ? [only] : user.devices.values()) if (device !== from) device.deliver(node)
  }

  /** Delivers typing to simulated devices, and to companions that are available and subscribed to the person or the group. */
  chatstate(from: Device, to: string, state: Stanza, members: Iterable<User> | undefined): void {
    const addressing = members ? this.#groupAddressing(to) : isLidJid(to) ? 'lid' : 'pn'
    const sender = from.user.jid(addressing, from.id)
    const attributes = members ? { from: to, participant: sender } : { from: sender }
    const subject = members ? to : from.user
    const user = this.#directory.find(to)
    for (const one of members ?? (user ? [user] : [])) {
      if (one === from.user) continue
      for (const device of one.devices.values()) {
        if (device instanceof CompanionDevice && !device.subscriptions.has(subject)) continue
        device.deliver(stanza('chatstate', attributes, [state]))
      }
    }
  }

  #toOwnDevices(from: Device, receipt: Stanza): void {
    const { id, to, participant } = receipt.attrs
    const own = from.user.jid(isLidJid(to ?? '') ? 'lid' : 'pn')
    const group = to !== undefined && isGroupJid(to)
    const attributes = group ? { from: to, participant: own } : { from: own, recipient: to, participant }
    const content = Array.isArray(receipt.content) ? receipt.content : undefined
    const node = stanza('receipt', { id, type: 'read-self', t: unixSeconds(this.#clock), ...attributes }, content)
    for (const device of from.user.devices.values()) if (device !== from) device.deliver(node)
  }
}
