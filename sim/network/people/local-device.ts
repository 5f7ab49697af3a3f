// A device of a simulated person: decrypts the stanzas of the server and requests those again that do not decrypt.
import { proto } from '../library.ts'
import type { Directory } from '../server/directory.ts'
import { signalAddress, type Device, type User } from '../server/user.ts'
import { ObjectMemo } from '../signal/memo.ts'
import type { PublishedBundle, SignalDevice } from '../signal/signal-device.ts'
import { isGroupJid, withoutDevice } from '../wire/jid.ts'
import { bytesOf, children, type Stanza } from '../wire/stanza.ts'
import type { ReceivedMessage } from './received-message.ts'

export interface LocalDeviceOwner {
  onMessage(device: LocalDevice, received: ReceivedMessage): void
  onUndecryptable(device: LocalDevice, node: Stanza, error: unknown): void
  onReceipt(device: LocalDevice, receipt: Stanza): void
  /** Gets typing, presence, calls and notifications. */
  onSideStanza(device: LocalDevice, node: Stanza): void
  /** Gets a stanza that makes no sense. */
  onNonsense(node: Stanza, error: unknown): void
}
type Deps = { user: User; id: number; signal: SignalDevice; directory: Directory; owner: LocalDeviceOwner }

export class LocalDevice implements Device {
  readonly user: User
  readonly id: number
  signal: SignalDevice
  readonly #directory: Directory
  readonly #owner: LocalDeviceOwner

  constructor({ user, id, signal, directory, owner }: Deps) {
    this.user = user
    this.id = id
    this.signal = signal
    this.#directory = directory
    this.#owner = owner
  }

  takeBundle(): PublishedBundle {
    return this.signal.publishBundle()
  }

  /** Plays a restored phone: the same identity, but no sessions, no prekeys and no sender keys. */
  forgetEverything(): void {
    this.signal.forgetEverything()
  }

  /** Plays a phone that has left a group: the keys of the other members are gone. */
  forgetSenderKeys(): void {
    this.signal.forgetSenderKeys()
  }

  /**
   * Waits until the sender's call is over: a phone answers after the server has acknowledged the message, not before.
   * A microtask runs before the client can read the acknowledgement, so a test that has seen a message acknowledged
   * finds it at the recipient's.
   */
  deliver(node: Stanza, plain?: proto.IMessage): void {
    queueMicrotask(() => {
      try {
        this.#take(node, plain)
      } catch (error) {
        this.#owner.onNonsense(node, error)
      }
    })
  }

  #take(node: Stanza, plain: proto.IMessage | undefined): void {
    if (node.tag === 'receipt') this.#owner.onReceipt(this, node)
    else if (node.tag !== 'message') this.#owner.onSideStanza(this, node)
    else this.#receive(node, plain)
  }

  #receive(node: Stanza, plain: proto.IMessage | undefined): void {
    const author = this.#directory.device(node.attrs.participant ?? node.attrs.from ?? '')
    if (!author) return
    try {
      const message = plain ?? this.#open(node, author)
      const own = author.user === this.user
      const chat = withoutDevice(node.attrs.recipient ?? node.attrs.from ?? '')
      const id = node.attrs.id ?? ''
      this.#owner.onMessage(this, { id, chat, from: author.user, fromDevice: author.id, own, message, stanza: node })
    } catch (error) {
      this.#owner.onUndecryptable(this, node, error)
    }
  }

  /** A group message has the sender key in one part and the text in another. The parts make one message. */
  #open(node: Stanza, author: Device): proto.IMessage {
    const group = node.attrs.from ?? ''
    let message: proto.Message | undefined
    for (const part of children(node, 'enc')) {
      const opened = this.#openPart(group, author, part)
      const announced = opened.senderKeyDistributionMessage
      if (announced?.groupId && announced.axolotlSenderKeyDistributionMessage) {
        const { groupId, axolotlSenderKeyDistributionMessage: distribution } = announced
        this.signal.learnSenderKey(groupId, signalAddress(author), distribution)
      }
      message = message ? Object.assign(new proto.Message(), message, opened) : opened
    }
    if (!message) throw new Error('nothing in this message is for this device')
    return message
  }

  #openPart(group: string, author: Device, part: Stanza): proto.Message {
    const body = bytesOf(part) ?? Buffer.alloc(0)
    const { type = 'msg' } = part.attrs
    const address = signalAddress(author)
    const isForGroup = type === 'skmsg' && isGroupJid(group)
    if (!isForGroup) return decode(this.signal.decrypt(address, type, body))
    const plain = this.signal.decryptGroup(group, address, body)
    return decoded.get(plain, () => decode(plain))
  }
}

/** Members of a group share the message that they have opened. */
const decoded = new ObjectMemo<Buffer, proto.Message>()

/** The last byte is the number of padding bytes. */
function decode(padded: Buffer): proto.Message {
  return proto.Message.decode(padded.subarray(0, padded.length - (padded.at(-1) ?? 0)))
}
