// A user of the network that writes and reads: the common part of simulated people and the owners' phones.
import type { proto } from '../library.ts'
import { EventLog } from '../../event-log.ts'
import { provenIdentity, signKeyIndexes } from '../accounts/device-identity.ts'
import type { SeededRandom } from '../seeded-random.ts'
import { usualAddressing } from '../server/address-rules.ts'
import { receiptIds } from '../server/receipt-switch.ts'
import { User, type Addressing, type Device } from '../server/user.ts'
import { SignalDevice } from '../signal/signal-device.ts'
import { isGroupJid, isLidJid, parseJid, STATUS_JID } from '../wire/jid.ts'
import { describeStanza, stanza, unixSeconds, type Stanza } from '../wire/stanza.ts'
import { attachedNodes } from './attached-nodes.ts'
import { ChatTimers } from './chat-timers.ts'
import { editAttribute, stanzaType, type MessageRef } from './contents.ts'
import { LocalDevice, type LocalDeviceOwner } from './local-device.ts'
import { MessageMemory } from './message-memory.ts'
import { MessageWriter } from './message-writer.ts'
import type { NetworkParts } from './network-parts.ts'
import { kindOfMessage, textOfMessage, type ReceivedMessage } from './received-message.ts'
import { faultOfToken } from './reporting-token.ts'
import { answerRetry, retryRequest } from './retries.ts'
import type { ChatTarget, SendOptions, SentMessage } from './sent-message.ts'

export type ReceivedReceipt = { id: string; type: string; from: User; device: number; chat: string }
type Deps = { user: User; parts: NetworkParts; random: SeededRandom; devices: number }

const MAX_RETRIES = 5

export class Correspondent implements LocalDeviceOwner {
  readonly user: User
  readonly messages: EventLog<ReceivedMessage>
  readonly receipts: EventLog<ReceivedReceipt>
  /** Which device opened which message. */
  readonly opened: EventLog<{ id: string; device: number }>
  readonly undecryptable: EventLog<{ id: string; error: string }>
  readonly side: EventLog<Stanza>
  /** How many messages were dropped because this person already had their ids. Real phones drop them too. */
  duplicates = 0
  /** Phones send delivery receipts without the help of their owners. */
  confirmsDelivery = true
  /** False plays a phone that is off or lost: it sends no message again. */
  answersRetries = true
  /** The timers of disappearing messages in this person's chats. */
  readonly timers = new ChatTimers()
  /** False plays a phone that does not ask for the messages that it could not open. */
  asksAgain = true
  protected readonly parts: NetworkParts
  protected readonly random: SeededRandom
  /** A separate stream of random numbers: retry requests of clients do not change the next ids. */
  readonly #ids: SeededRandom
  readonly #writers: MessageWriter[] = []
  readonly #memory = new MessageMemory()

  constructor({ user, parts, random, devices }: Deps) {
    this.user = user
    this.parts = parts
    this.random = random
    this.#ids = random.fork('ids')
    const name = user.pushName
    const describe = (one: ReceivedMessage): string =>
      `${one.id} from ${one.from.phone} in ${one.chat}: ${textOfMessage(one.message) ?? kindOfMessage(one.message)}`
    this.messages = new EventLog(`what ${name} received`, describe)
    this.receipts = new EventLog(`receipts for ${name}`, (one) => `${one.type} of ${one.id} from ${one.from.phone}`)
    this.opened = new EventLog(`what devices of ${name} opened`, (one) => `${one.id} by device ${one.device}`)
    this.undecryptable = new EventLog(`what ${name} could not open`, (one) => `${one.id}: ${one.error}`)
    this.side = new EventLog(`signs seen by ${name}`, describeStanza, 1_000)
    for (let id = 0; id < devices; id++) this.#addDevice(id)
    user.signKeyIndexes = (indexes) => signKeyIndexes(this.device.signal.identity, indexes)
  }

  get device(): LocalDevice {
    return this.#writerOf(0).device
  }

  deviceAt(id: number): LocalDevice {
    return this.#writerOf(id).device
  }

  /** Writes any content to a chat. The server has the message when this returns. */
  write(chat: ChatTarget, given: proto.IMessage, options: SendOptions = {}): SentMessage {
    if (chat instanceof User) this.timers.begin(chat, this.user.defaultTimer)
    const message = this.timers.applied(chat, given)
    const addressing = this.addressingIn(chat, options.addressing)
    const sent = { id: options.id ?? this.#freshId(), chat, addressing, message }
    this.#memory.remember(sent)
    const to = chat instanceof User ? chat.jid(addressing) : chat.jid
    const writer = this.#writerOf(options.device ?? 0)
    const content = chat instanceof User ? writer.forUser(chat, addressing, message) : writer.forGroup(chat, message)
    const t = options.timestamp === undefined ? undefined : String(options.timestamp)
    const attributes = { id: sent.id, to, t, type: stanzaType(message), edit: editAttribute(message) }
    const { device } = writer
    const prove = (): Uint8Array => provenIdentity(this.device.signal.identity, device.signal.identity, device.id)
    const written = { id: sent.id, sender: this.user.jid(addressing), chat: to, message }
    const attached = attachedNodes(written, content, device === this.device ? undefined : prove)
    this.#route(device, stanza(options.carrier ?? 'message', attributes, [...content, ...attached]), message)
    return sent
  }

  /**
   * Writes a message that companions cannot read: simulated devices get the message, real clients get the notice
   * without ciphertext.
   */
  writeNotice(chat: ChatTarget, notice: Stanza, message: proto.IMessage, options: SendOptions = {}): string {
    const { id = this.#freshId(), addressing, timestamp } = options
    const to = chat instanceof User ? chat.jid(this.addressingIn(chat, addressing)) : chat.jid
    const t = timestamp === undefined ? undefined : String(timestamp)
    this.#route(this.device, stanza('message', { id, to, t, type: 'media' }, [notice]), message)
    return id
  }

  protected addressingIn(chat: ChatTarget, chosen?: Addressing): Addressing {
    if (!(chat instanceof User)) return chat.addressing
    return chosen ?? usualAddressing(this.user, chat) ?? this.parts.addressing
  }

  /** Sends a message to another device of the same user. It belongs to no chat. */
  tell(target: Device, message: proto.IMessage): void {
    const sealed = this.#writerOf(0).forOwnDevice(target, message)
    const to = target.user.jid('pn', target.id)
    const attributes = { id: `3A${this.random.hex(9)}`, to, type: 'text', category: 'peer' }
    this.#route(this.device, stanza('message', attributes, [sealed]))
  }

  /** With `asList` one receipt names all messages, which must be of one chat. `addressing` is that of the receipt. */
  receipt(
    type: 'delivered' | 'read' | 'played',
    received: ReceivedMessage[],
    { asList = false, addressing }: { asList?: boolean; addressing?: Addressing } = {},
  ): void {
    const shown = type === 'delivered' ? undefined : type
    const [first, ...rest] = received
    for (const { id, stanza: node } of asList && first ? [first] : received) {
      const { from, participant } = node.attrs
      const group = from !== undefined && isGroupJid(from)
      const to = group ? { to: from, participant } : { to: from }
      const items = asList ? rest.map((one) => stanza('item', { id: one.id })) : []
      const list = items.length > 0 ? [stanza('list', {}, items)] : undefined
      this.parts.receipts.forward(this.device, stanza('receipt', { id, type: shown, ...to }, list), addressing)
    }
  }

  /** The chat with this address. */
  chatTarget(jid: string): ChatTarget {
    const target = isGroupJid(jid) ? this.parts.findGroup(jid) : this.parts.directory.find(jid)
    if (!target) throw new Error(`there is no user and no group ${jid}`)
    return target
  }

  /** The reference to a message that this person's reactions, quotes and edits carry. */
  refTo(one: SentMessage | ReceivedMessage): MessageRef {
    if ('stanza' in one) {
      const addressing = isLidJid(one.stanza.attrs.participant ?? '') ? 'lid' : 'pn'
      const participant = isGroupJid(one.chat) ? one.from.jid(addressing) : undefined
      return { id: one.id, remoteJid: one.chat, fromMe: one.own, participant }
    }
    const group = !(one.chat instanceof User)
    const remoteJid = one.chat instanceof User ? one.chat.jid(one.addressing) : one.chat.jid
    return { id: one.id, remoteJid, fromMe: true, participant: group ? this.user.jid(one.addressing) : undefined }
  }

  /** Finds a message that this person sent or received. */
  known(id: string): SentMessage | ReceivedMessage {
    const message = this.#memory.sent(id) ?? this.messages.entries.find((one) => one.id === id)
    if (!message) throw new Error(`${this.user.phone} knows no message ${id}`)
    return message
  }

  onMessage(device: LocalDevice, received: ReceivedMessage): void {
    if (!this.#memory.addSeen(device, received.from, received.id)) {
      this.duplicates += 1
      return
    }
    const fault = faultOfToken(received, this.user)
    if (fault !== undefined) this.parts.violate(fault)
    this.opened.add({ id: received.id, device: device.id })
    if (device !== this.device) return
    this.#learnTimer(received)
    if (this.confirmsDelivery && !received.own && received.chat !== STATUS_JID) this.receipt('delivered', [received])
    this.messages.add(received)
  }

  onUndecryptable(device: LocalDevice, node: Stanza, error: unknown): void {
    const id = node.attrs.id ?? ''
    // A repeated message with used keys is a duplicate, not a failure.
    const author = this.parts.directory.find(node.attrs.participant ?? node.attrs.from ?? '')
    if (author && this.#memory.hasSeen(device, author, id)) {
      this.duplicates += 1
      return
    }
    this.undecryptable.add({ id, error: String(error) })
    const count = this.#memory.countRetry(device, id)
    if (this.asksAgain && count <= MAX_RETRIES) this.parts.receipts.forward(device, retryRequest(device, node, count))
  }

  onReceipt(own: LocalDevice, receipt: Stanza): void {
    const { from = '', participant, type = 'delivered' } = receipt.attrs
    const address = participant ?? from
    const user = this.parts.directory.find(address)
    if (!user) return
    const { device } = parseJid(address)
    for (const id of receiptIds(receipt)) this.receipts.add({ id, type, from: user, device, chat: from })
    const sent = this.#memory.sent(receipt.attrs.id ?? '')
    const target = this.parts.directory.device(address)
    if (type !== 'retry' || !sent || !target || !this.answersRetries) return
    this.parts.messages.route(own, answerRetry(own, this.#writerOf(own.id), receipt, sent, target))
  }

  onNonsense(node: Stanza, error: unknown): void {
    this.parts.complain(`${describeStanza(node)} to ${this.user.phone} failed: ${String(error)}`)
  }

  onSideStanza(device: LocalDevice, node: Stanza): void {
    if (device === this.device) this.side.add(node)
  }

  /**
   * Plays a new phone or a reinstalled app: a new identity and none of the old keys. The server tells the contacts, unless
   * the notice is lost.
   */
  reinstall({ isTold = true } = {}): void {
    for (const writer of this.#writers) writer.startOver(new SignalDevice(this.random.fork(this.random.hex(4))))
    if (!isTold) return
    const identity = {
      from: this.user.pnJid,
      type: 'encrypt',
      id: this.random.hex(6),
      t: unixSeconds(this.parts.clock),
    }
    for (const device of this.parts.companions()) {
      if (device.user !== this.user) device.deliver(stanza('notification', identity, [stanza('identity')]))
    }
  }

  #learnTimer({ chat, message, stanza: { attrs } }: ReceivedMessage): void {
    const person = isGroupJid(chat) ? undefined : this.parts.directory.find(chat)
    if (person) this.timers.learn(person, message, Number(attrs.t ?? '0'))
  }

  /** Links one more device. The server tells the contacts, unless the notice is lost. */
  addDevice({ isTold = true } = {}): LocalDevice {
    const device = this.#addDevice(this.#writers.length)
    if (isTold) this.parts.onDeviceChange(device, 'add')
    return device
  }

  /** Logs out a device. The device keeps its keys. */
  removeDevice(device: LocalDevice, { isTold = true } = {}): void {
    this.user.devices.delete(device.id)
    if (isTold) this.parts.onDeviceChange(device, 'remove')
  }

  #freshId(): string {
    return `3A${this.#ids.hex(9)}`
  }

  #writerOf(device: number): MessageWriter {
    const writer = this.#writers[device]
    if (!writer) throw new Error(`${this.user.phone} has no device ${device}`)
    return writer
  }

  #route(from: LocalDevice, node: Stanza, message?: proto.IMessage): void {
    const error = this.parts.messages.route(from, node, message)
    if (error !== undefined) throw new Error(`the server refused the message of ${this.user.phone}: ${error}`)
  }

  #addDevice(id: number): LocalDevice {
    const { directory } = this.parts
    const signal = new SignalDevice(this.random.fork(`device ${id}`))
    const device = new LocalDevice({ user: this.user, id, signal, directory, owner: this })
    this.user.devices.set(id, device)
    this.#writers.push(new MessageWriter({ device, random: this.random }))
    return device
  }
}
