// Encrypts the messages of a simulated device for every real client that must be able to read them.
import { proto } from '../library.ts'
import type { SeededRandom } from '../seeded-random.ts'
import { CompanionDevice } from '../server/companion-device.ts'
import type { GroupMembership } from '../server/message-switch.ts'
import { signalAddress, type Addressing, type Device, type User } from '../server/user.ts'
import type { SignalDevice } from '../signal/signal-device.ts'
import { stanza, type Stanza } from '../wire/stanza.ts'
import type { LocalDevice } from './local-device.ts'

type Deps = { device: LocalDevice; random: SeededRandom }

export class MessageWriter {
  readonly device: LocalDevice
  readonly #random: SeededRandom
  /** Per group: the devices that have our sender key, and the members it was made for. */
  readonly #told = new Map<string, { devices: Set<string>; members: Set<User> }>()

  constructor({ device, random }: Deps) {
    this.device = device
    this.#random = random
  }

  startOver(signal: SignalDevice): void {
    this.device.signal = signal
    this.#told.clear()
  }

  /** Builds `<participants>` for a chat with one person, with the own companions. */
  forUser(chat: User, addressing: Addressing, message: proto.IMessage): Stanza[] {
    const others = this.#companionsOf([chat], chat !== this.device.user)
    const mine = this.#companionsOf([this.device.user], true)
    const copy: proto.IMessage = {
      deviceSentMessage: { destinationJid: chat.jid(addressing), message },
      ...(message.messageContextInfo ? { messageContextInfo: message.messageContextInfo } : {}),
    }
    const sealed = [
      ...others.map((device) => this.#sealFor(device, addressing, message)),
      ...mine.map((device) => this.#sealFor(device, addressing, copy)),
    ]
    return sealed.length === 0 ? [] : [stanza('participants', {}, sealed)]
  }

  /** Builds the sender key for the devices that do not have it yet, and the message once for all devices. */
  forGroup(group: GroupMembership, message: proto.IMessage): Stanza[] {
    const members = new Set(group.members())
    const told = this.#toldIn(group.jid, members)
    const key = this.device.signal.ownSenderKey(group.jid)
    const announcement: proto.IMessage = {
      senderKeyDistributionMessage: {
        groupId: group.jid,
        axolotlSenderKeyDistributionMessage: key.distribution(),
      },
    }
    const missing = this.#companionsOf(members, true).filter((device) => !told.has(signalAddress(device)))
    const sealed = missing.map((device) => this.#sealFor(device, group.addressing, announcement))
    for (const device of missing) told.add(signalAddress(device))
    const shared = stanza('enc', { v: '2', type: 'skmsg' }, key.encrypt(this.#pad(message)))
    return sealed.length === 0 ? [shared] : [stanza('participants', {}, sealed), shared]
  }

  /** Encrypts one message for one device that requested it again. */
  forDevice(target: Device, message: proto.IMessage, count: number): Stanza {
    return this.#seal(target, message, { count: String(count) })
  }

  forOwnDevice(target: Device, message: proto.IMessage): Stanza {
    return this.#seal(target, message, {})
  }

  /** Adds the sender key to a message for a device that lost the key. */
  withSenderKey(group: string, message: proto.IMessage): proto.IMessage {
    const axolotlSenderKeyDistributionMessage = this.device.signal.ownSenderKey(group).distribution()
    return { ...message, senderKeyDistributionMessage: { groupId: group, axolotlSenderKeyDistributionMessage } }
  }

  #toldIn(group: string, members: Set<User>): Set<string> {
    const known = this.#told.get(group)
    const memberLeft = known && [...known.members].some((member) => !members.has(member))
    if (memberLeft) this.device.signal.dropOwnSenderKey(group)
    const devices = known && !memberLeft ? known.devices : new Set<string>()
    this.#told.set(group, { devices, members })
    return devices
  }

  #companionsOf(users: Iterable<User>, wanted: boolean): CompanionDevice[] {
    if (!wanted) return []
    return [...users].flatMap((user) =>
      [...user.devices.values()].filter((device) => device instanceof CompanionDevice),
    )
  }

  #sealFor(target: Device, addressing: Addressing, message: proto.IMessage): Stanza {
    return stanza('to', { jid: target.user.jid(addressing, target.id) }, [this.#seal(target, message, {})])
  }

  #seal(target: Device, message: proto.IMessage, extra: Record<string, string>): Stanza {
    const address = signalAddress(target)
    const { signal } = this.device
    if (!signal.hasSession(address)) {
      const bundle = target.takeBundle()
      if (!bundle) throw new Error(`${address} has no keys on the server`)
      signal.openSession(address, bundle)
    }
    const { type, body } = signal.encrypt(address, this.#pad(message))
    return stanza('enc', { v: '2', type, ...extra }, body)
  }

  #pad(message: proto.IMessage): Buffer {
    const length = 1 + this.#random.below(16)
    return Buffer.concat([proto.Message.encode(message).finish(), Buffer.alloc(length, length)])
  }
}
