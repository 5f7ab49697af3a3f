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
import { encodeSignedDeviceIdentity, encodeWAMessage } from '../library/library.ts'
import type { BinaryNode, proto, WASocket } from '../library/library.ts'
import { reportingToken } from './reporting-token.ts'
import { labelsOf } from './stanza-labels.ts'
import { ownIdentity } from './own-identity.ts'
import type { OwnIdentity } from './own-identity.ts'

/** `envelope` holds more attributes of the stanza. */
export type SealRequest = {
  chat: Jid
  id: NetworkMessageId
  message: proto.IMessage
  envelope: Record<string, string>
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
    const copy = { deviceSentMessage: { destinationJid: chat, message }, ...contextOf(message) }
    const [forThem, forUs] = [encodeWAMessage(message), encodeWAMessage(copy)]
    const own = ownIdentity(this.#socket)
    const items = devices
      .filter((device) => !isThis(own, device))
      .map((device) => ({ device, data: own.isOwn(device.user) ? forUs : forThem }))
    const addressed = await this.#sealAll(items, withoutDeadline)
    const unreached = usersOf(items).difference(usersOf(addressed)).size
    if (unreached > 0) throw keylessError(unreached)
    const envelope = { attrs: {}, sender: own.jidFor(chat) }
    return this.#envelope(request, envelope, [participants(request, addressed)], addressed)
  }

  /**
   * Seals once for the whole group. The group's key is sealed for the devices that do not have it yet. A device that cannot
   * get the key now asks for the message again, and gets the key with the next message.
   */
  async toGroup(
    request: SealRequest,
    group: {
      devices: readonly Device[]
      sender: Jid
      attrs: Record<string, string>
      hasKey: (jid: Jid) => boolean
    },
    withoutDeadline: WithoutDeadline,
  ): Promise<{ stanza: BinaryNode; given: Jid[] }> {
    const { chat, message } = request
    const data = encodeWAMessage(message)
    const { ciphertext, senderKeyDistributionMessage } = await this.#repository.encryptGroupMessage({
      group: chat,
      data,
      meId: group.sender,
    })
    const own = ownIdentity(this.#socket)
    const targets = group.devices.filter((one) => !isThis(own, one) && !one.isHosted && !group.hasKey(one.jid))
    const key = { groupId: chat, axolotlSenderKeyDistributionMessage: senderKeyDistributionMessage }
    const keyMessage = encodeWAMessage({ senderKeyDistributionMessage: key })
    const addressed = await this.#sealAll(
      targets.map((device) => ({ device, data: keyMessage })),
      withoutDeadline,
    )
    const shared = { tag: 'enc', attrs: { v: '2', type: 'skmsg', ...labelsOf(message).sealed }, content: ciphertext }
    const content = addressed.length > 0 ? [shared, participants(request, addressed)] : [shared]
    const stanza = this.#envelope(request, group, content, addressed)
    return { stanza, given: addressed.map(({ device }) => device.jid) }
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
    { chat, id, message, envelope }: SealRequest,
    { attrs: attributes, sender }: { attrs: Record<string, string>; sender: Jid },
    content: BinaryNode[],
    addressed: readonly Addressed[],
  ): BinaryNode {
    const attrs = { id, to: chat, type: labelsOf(message).type, ...attributes, ...envelope }
    const isFirst = addressed.some(({ sealed }) => sealed.type === 'pkmsg')
    const identity = isFirst ? deviceIdentity(this.#socket) : []
    const report = reportingToken(message, { id, sender, chat })
    return { tag: 'message', attrs, content: [...content, ...identity, ...report] }
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

function isThis(own: OwnIdentity, { user, device }: Device): boolean {
  return own.isOwn(user) && device === own.device
}

function participants({ message }: SealRequest, addressed: readonly Addressed[]): BinaryNode {
  const { sealed: labels } = labelsOf(message)
  const content = addressed.map(({ device, sealed }) => ({
    tag: 'to',
    attrs: { jid: device.jid },
    content: [{ tag: 'enc', attrs: { v: '2', type: sealed.type, ...labels }, content: sealed.ciphertext }],
  }))
  return { tag: 'participants', attrs: {}, content }
}

function contextOf({ messageContextInfo }: proto.IMessage): proto.IMessage {
  return messageContextInfo ? { messageContextInfo } : {}
}
