// The primary phone of an account: it links companions, writes, reads, and unlinks.
import { Journal } from '../journal.ts'
import { renewMedia } from '../media/media-renewal.ts'
import { Author, chatOf, type Recipient } from '../people/author.ts'
import type { NetworkParts } from '../people/correspondent.ts'
import type { LocalDevice } from '../people/local-device.ts'
import type { SeededRandom } from '../seeded-random.ts'
import { CompanionDevice } from '../server/companion-device.ts'
import { User } from '../server/user.ts'
import { stanza, type Stanza } from '../wire/stanza.ts'

export type CompanionState = 'online' | 'offline' | 'unlinked'
export type CompanionEvent = { device: number; state: CompanionState; at: number }
export interface CompanionOffice {
  scan(phone: SimPhone, qr: string): Promise<number>
  link(phone: SimPhone, code: string): Promise<number>
}
type Deps = { user: User; parts: NetworkParts; random: SeededRandom; office: CompanionOffice }

export class SimPhone extends Author {
  readonly companionEvents: Journal<CompanionEvent>
  readonly #office: CompanionOffice
  readonly #read = new Set<string>()
  latestDeviceId = 0

  constructor({ user, parts, random, office }: Deps) {
    super({ user, parts, random, devices: 1 })
    this.#office = office
    this.companionEvents = new Journal(`companions of ${user.phone}`, (one) => `device ${one.device} ${one.state}`)
  }

  get companions(): CompanionDevice[] {
    return [...this.user.devices.values()].filter((device) => device instanceof CompanionDevice)
  }

  /** The companion linked last. */
  get companion(): CompanionDevice {
    const latest = this.companions.at(-1)
    if (!latest) throw new Error(`${this.user.phone} has no linked device`)
    return latest
  }

  claimDeviceId(): number {
    this.latestDeviceId += 1
    return this.latestDeviceId
  }

  /** Points the camera at a QR code; resolves when the companion is linked. */
  scan(qr: string): Promise<number> {
    return this.#office.scan(this, qr)
  }

  /** Types the code that the companion shows. */
  link(code: string): Promise<number> {
    return this.#office.link(this, code)
  }

  /** Logs companions out from the phone: all, or one. */
  unlink(deviceId?: number): void {
    for (const device of this.companions) {
      if (deviceId === undefined || device.id === deviceId) this.removeCompanion(device)
    }
  }

  removeCompanion(device: CompanionDevice): void {
    this.user.devices.delete(device.id)
    device.books.clear()
    const conflict = stanza('conflict', { type: 'device_removed' })
    device.connection?.end(stanza('stream:error', { code: '401' }, [conflict]))
    this.companionEvents.add({ device: device.id, state: 'unlinked', at: Date.now() })
  }

  /** Opens a chat on the phone: everything unread in it is read, and the other devices are told. */
  read(chat: Recipient): string[] {
    const target = chatOf(chat)
    const addresses = target instanceof User ? [target.pnJid, target.lidJid] : [target.jid]
    const unread = this.messages.entries.filter(
      (one) => addresses.includes(one.chat) && !one.own && !this.#read.has(one.id),
    )
    this.receipt('read', unread)
    for (const { id, chat: to } of unread) {
      this.#read.add(id)
      this.parts.receipts.forward(this.device, stanza('receipt', { id, to, type: 'read-self' }))
    }
    return unread.map((one) => one.id)
  }

  override onReceipt(own: LocalDevice, receipt: Stanza): void {
    if (receipt.attrs.type !== 'server-error') {
      super.onReceipt(own, receipt)
      return
    }
    const received = this.messages.entries.find((one) => one.id === receipt.attrs.id)
    const deps = { host: this.parts.media, random: this.random, from: this.user.pnJid }
    const answer = renewMedia(receipt, received, deps)
    for (const device of this.companions) device.deliver(answer)
  }

  waitUntilOnline(timeoutMs?: number): Promise<CompanionEvent> {
    if (this.companions.some((device) => device.live)) {
      return Promise.resolve({ device: this.companion.id, state: 'online', at: Date.now() })
    }
    const position = this.companionEvents.length
    return this.companionEvents.waitAfter(position, 'a companion online', (one) => one.state === 'online', timeoutMs)
  }
}
