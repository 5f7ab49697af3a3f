// Seals a message for every device and builds the stanza for the server.
//
// The library's own function looks everything up again, seals for one device at a time, silently skips devices that it could
// not seal for, and does not say whether anything has left.

import type { Jid, NetworkMessageId } from '../../core/ids.ts'
import { SendError } from '../../core/network.ts'
import { writeReason } from '../../core/reasons/reason.ts'
import { Semaphore } from '../../lib/queues/semaphore.ts'
import type { Device } from './device-directory.ts'
import type { DurableRepository, Sealed } from '../account/durable-signal.ts'
import { encodeSignedDeviceIdentity } from '../library/library.ts'
import type { BinaryNode, proto, WASocket } from '../library/library.ts'
import { encodeMessage, padMessage } from './encode-message.ts'
import { reportingToken } from './reporting-token.ts'
import { labelsOf } from './stanza-labels.ts'
import { ownIdentity } from './own-identity.ts'

/** `envelope` holds more attributes of the stanza, `nodes` more of its content. */
export type SealRequest = {
  chat: Jid
  id: NetworkMessageId
  message: proto.IMessage
  envelope?: Record<string, string>
  nodes?: readonly BinaryNode[]
}
/** `sender` is the account as the group addresses it. */
type Group = { sender: Jid; attrs: Record<string, string> }
type GroupFanOut = Group & {
  devices: readonly Device[]
  hash: string
  hasKey: (device: Device) => boolean
  /** Called with the devices that get the key, before it is sealed for them. */
  beforeKey: (devices: readonly Device[]) => Promise<void>
}
/** Runs a wait that does not count against the message's deadline. */
export type WithoutDeadline = <Result>(wait: () => Promise<Result>) => Promise<Result>
type Item = { device: Device; data: Uint8Array }
type Addressed = { device: Device; sealed: Sealed }

const manySessions = 16
// All accounts share it. Sessions with whole groups are opened for a few messages at a time, so that the first messages
// leave soon instead of all of them late.
const largeFanOuts = new Semaphore(4)

export class StanzaSealer {
  readonly #socket: WASocket
  readonly #gone: AbortSignal

  constructor(socket: WASocket, gone: AbortSignal) {
    this.#socket = socket
    this.#gone = gone
  }

  /** Seals for each device of both sides. The copy for our own devices names the recipient. */
  async toPerson(
    request: SealRequest,
    devices: readonly Device[],
    withoutDeadline: WithoutDeadline,
  ): Promise<BinaryNode> {
    const { chat, message } = request
    const encoded = encodeMessage(message)
    const items = this.#itemsFor(devices, encoded, copyOf(chat, message))
    const addressed = await this.#sealAll(items, withoutDeadline)
    const unreached = usersOf(items).difference(usersOf(addressed)).size
    if (unreached > 0) throw keylessError(unreached)
    const envelope = { attrs: {}, sender: ownIdentity(this.#socket).jidFor(chat), encoded }
    return this.#envelope(request, envelope, [participants(addressed, labelsOf(message).sealed)], addressed)
  }

  /**
   * Seals once for the whole group. The group's key is sealed for the devices that do not have it yet. A device that cannot
   * get the key now asks for the message again, and gets the key with the next message.
   */
  async toGroup(
    request: SealRequest,
    group: GroupFanOut,
    withoutDeadline: WithoutDeadline,
  ): Promise<{ stanza: BinaryNode; given: Device[] }> {
    const { chat, message } = request
    const { sealed, hidden } = labelsOf(message)
    const encoded = encodeMessage(message)
    const { ciphertext, senderKeyDistributionMessage } = await this.#repository.encryptGroupMessage({
      group: chat,
      data: padMessage(encoded),
      meId: group.sender,
    })
    const own = ownIdentity(this.#socket)
    const targets = group.devices.filter((one) => !own.isThis(one) && !one.isHosted && !group.hasKey(one))
    const key = { groupId: chat, axolotlSenderKeyDistributionMessage: senderKeyDistributionMessage }
    const keyMessage = padMessage(encodeMessage({ senderKeyDistributionMessage: key }))
    if (targets.length > 0) await group.beforeKey(targets)
    const addressed = await this.#sealAll(
      targets.map((device) => ({ device, data: keyMessage })),
      withoutDeadline,
    )
    const shared = { tag: 'enc', attrs: { v: '2', type: 'skmsg', ...sealed }, content: ciphertext }
    const content = addressed.length > 0 ? [shared, participants(addressed, hidden)] : [shared]
    const { sender, hash } = group
    const envelope = { sender, attrs: { phash: hash, ...group.attrs }, encoded }
    const stanza = this.#envelope(request, envelope, content, addressed)
    return { stanza, given: addressed.map(({ device }) => device) }
  }

  /**
   * Seals a group message, which the group has already, for single devices that missed it, together with the key. Undefined
   * when the keys of none of them can be had.
   */
  async toMissed(
    request: SealRequest,
    { sender, attrs }: Group,
    devices: readonly Device[],
  ): Promise<BinaryNode | undefined> {
    const { chat, message } = request
    const { sealed } = labelsOf(message)
    const whole = await withGroupKey(this.#repository, { group: chat, sender, message })
    const addressed = await this.#sealAll(this.#itemsFor(devices, encodeMessage(whole), copyOf(chat, whole)), (wait) =>
      wait(),
    )
    if (addressed.length === 0) return undefined
    // The empty part says that the message was sealed for the group.
    const marker = { tag: 'enc', attrs: { v: '2', type: 'skmsg', ...sealed } }
    const envelope = { sender, attrs, encoded: encodeMessage(message) }
    return this.#envelope(request, envelope, [participants(addressed, sealed), marker], addressed)
  }

  #itemsFor(devices: readonly Device[], forThem: Uint8Array, forUs: proto.IMessage): Item[] {
    const own = ownIdentity(this.#socket)
    const [theirs, ours] = [padMessage(forThem), padMessage(encodeMessage(forUs))]
    return devices
      .filter((device) => !own.isThis(device))
      .map((device) => ({ device, data: own.isOwn(device.user) ? ours : theirs }))
  }

  /** Seals for all devices whose keys can be had. Opens missing sessions first. */
  async #sealAll(items: readonly Item[], withoutDeadline: WithoutDeadline): Promise<Addressed[]> {
    if (items.length === 0) return []
    const addressed = await this.#seal(items)
    const reached = new Set(addressed.map(({ device }) => device))
    const missing = items.filter(({ device }) => !reached.has(device))
    if (missing.length === 0) return addressed
    const leave =
      missing.length < manySessions ? undefined : await withoutDeadline(() => largeFanOuts.enter(this.#gone))
    try {
      await this.#openSessions(missing.map(({ device }) => device.jid))
      addressed.push(...(await this.#seal(missing)))
    } finally {
      leave?.()
    }
    return addressed
  }

  /** One device without keys must not block the others, so after a failure each session is opened alone. */
  async #openSessions(jids: Jid[]): Promise<void> {
    const open = (some: Jid[]) => this.#socket.assertSessions(some, false)
    await open(jids).catch(() => Promise.all(jids.map((jid) => open([jid]).catch(() => false))))
  }

  async #seal(items: readonly Item[]): Promise<Addressed[]> {
    const sealed = await this.#repository.encryptAll(items.map(({ device, data }) => ({ jid: device.jid, data })))
    return items.flatMap(({ device }, index) => (sealed[index] ? [{ device, sealed: sealed[index] }] : []))
  }

  #envelope(
    { chat, id, message, envelope, nodes = [] }: SealRequest,
    { attrs: attributes, sender, encoded }: { attrs: Record<string, string>; sender: Jid; encoded: Uint8Array },
    content: BinaryNode[],
    addressed: readonly Addressed[],
  ): BinaryNode {
    const { type, edit } = labelsOf(message)
    const attrs = { id, to: chat, type, ...edit, ...attributes, ...envelope }
    const isFirst = addressed.some(({ sealed }) => sealed.type === 'pkmsg')
    const identity = isFirst ? deviceIdentity(this.#socket) : []
    const report = reportingToken(message, encoded, { id, sender, chat })
    return { tag: 'message', attrs, content: [...content, ...identity, ...report, ...nodes] }
  }

  get #repository(): DurableRepository {
    return this.#socket.signalRepository as DurableRepository
  }
}

function usersOf(each: readonly { device: Device }[]): Set<string> {
  return new Set(each.map(({ device }) => device.user))
}

function keylessError(count: number): SendError {
  return new SendError('not_sent', writeReason('keysMissing', { count }))
}

/** Proves to devices without a session that this device belongs to the account. */
export function deviceIdentity({ authState }: WASocket): BinaryNode[] {
  const { account } = authState.creds
  return account ? [{ tag: 'device-identity', attrs: {}, content: encodeSignedDeviceIdentity(account, true) }] : []
}

function participants(addressed: readonly Addressed[], labels: Record<string, string>): BinaryNode {
  const content = addressed.map(({ device, sealed }) => ({
    tag: 'to',
    attrs: { jid: device.jid },
    content: [{ tag: 'enc', attrs: { v: '2', type: sealed.type, ...labels }, content: sealed.ciphertext }],
  }))
  return { tag: 'participants', attrs: {}, content }
}

/** The copy for our own devices names the chat. */
export function copyOf(chat: Jid, message: proto.IMessage): proto.IMessage {
  const { messageContextInfo } = message
  const copy = { deviceSentMessage: { destinationJid: chat, message } }
  return messageContextInfo ? { ...copy, messageContextInfo } : copy
}

/** The message together with our key of the group. */
export async function withGroupKey(
  repository: DurableRepository,
  { group, sender, message }: { group: Jid; sender: Jid; message: proto.IMessage },
): Promise<proto.IMessage> {
  const key = await repository.getSenderKeyDistributionMessage({ group, meId: sender })
  return { ...message, senderKeyDistributionMessage: { groupId: group, axolotlSenderKeyDistributionMessage: key } }
}
