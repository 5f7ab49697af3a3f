// Seals a message for every device it is for and puts it into the envelope the server takes.
//
// The library's own way looks everything up again, seals for one device at a time, goes on without devices it could not
// seal for, and does not tell whether anything has left.

import { SendError } from '../../core/network.ts'
import { Semaphore } from '../../lib/semaphore.ts'
import type { Device } from './device-directory.ts'
import type { DurableRepository, Sealed } from '../account/durable-signal.ts'
import { encodeSignedDeviceIdentity, encodeWAMessage, getMessageReportingToken, proto } from '../library/library.ts'
import type { BinaryNode, WASocket } from '../library/library.ts'
import { labelsOf } from './stanza-labels.ts'
import { ownIdentity } from './own-identity.ts'
import type { OwnIdentity } from './own-identity.ts'

export type SealRequest = { chat: string; id: string; message: proto.IMessage; envelope: Record<string, string> }
/** Runs a wait behind others, which is not held against the message. */
export type WithoutDeadline = <Result>(wait: () => Promise<Result>) => Promise<Result>
type Item = { device: Device; data: Uint8Array }
type Addressed = { device: Device; sealed: Sealed }

const manySessions = 16
// Of all accounts together: sessions with whole groups are opened for a few messages at a time, so that the first of many
// are through soon instead of all of them late.
const fanOuts = new Semaphore(4)

export class StanzaSealer {
  readonly #socket: WASocket
  readonly #gone: AbortSignal

  constructor(socket: WASocket, gone: AbortSignal) {
    this.#socket = socket
    this.#gone = gone
  }

  /** To a person: sealed for each device of both sides, the own ones being told whom it is for. */
  async toPerson(
    draft: SealRequest,
    devices: readonly Device[],
    withoutDeadline: WithoutDeadline,
  ): Promise<BinaryNode> {
    const { chat, message } = draft
    const copy = { deviceSentMessage: { destinationJid: chat, message }, ...contextOf(message) }
    const [forThem, forUs] = [encodeWAMessage(message), encodeWAMessage(copy)]
    const own = ownIdentity(this.#socket)
    const items = devices
      .filter((device) => !isThis(own, device))
      .map((device) => ({ device, data: own.isOwn(device.user) ? forUs : forThem }))
    const addressed = await this.#sealAll(items, withoutDeadline)
    const unreached = usersOf(items).difference(usersOf(addressed)).size
    if (unreached > 0) throw keylessError(unreached)
    return this.#envelope(draft, {}, [participants(draft, addressed)], addressed)
  }

  /**
   * To a group: sealed once; the key goes along to those devices that do not have it yet. Who cannot be given it now asks
   * for the message, and is given it with the next one.
   */
  async toGroup(
    draft: SealRequest,
    group: {
      devices: readonly Device[]
      sender: string
      attrs: Record<string, string>
      hasKey: (jid: string) => boolean
    },
    withoutDeadline: WithoutDeadline,
  ): Promise<{ stanza: BinaryNode; given: string[] }> {
    const { chat, message } = draft
    const data = encodeWAMessage(message)
    const { ciphertext, senderKeyDistributionMessage } = await this.#repository.encryptGroupMessage({
      group: chat,
      data,
      meId: group.sender,
    })
    const own = ownIdentity(this.#socket)
    const targets = group.devices.filter((one) => !isThis(own, one) && !one.isHosted && !group.hasKey(one.jid))
    const key = { groupId: chat, axolotlSenderKeyDistributionMessage: senderKeyDistributionMessage }
    const carried = encodeWAMessage({ senderKeyDistributionMessage: key })
    const addressed = await this.#sealAll(
      targets.map((device) => ({ device, data: carried })),
      withoutDeadline,
    )
    const shared = { tag: 'enc', attrs: { v: '2', type: 'skmsg', ...labelsOf(message).sealed }, content: ciphertext }
    const content = addressed.length > 0 ? [shared, participants(draft, addressed)] : [shared]
    const stanza = await this.#envelope(draft, group.attrs, content, addressed)
    return { stanza, given: addressed.map(({ device }) => device.jid) }
  }

  /** For as many as there are keys of. */
  async #sealAll(items: readonly Item[], withoutDeadline: WithoutDeadline): Promise<Addressed[]> {
    if (items.length === 0) return []
    const addressed = await this.#seal(items)
    const reached = new Set(addressed.map(({ device }) => device))
    const missing = items.filter(({ device }) => !reached.has(device))
    if (missing.length === 0) return addressed
    const leave = missing.length < manySessions ? undefined : await withoutDeadline(() => fanOuts.enter(this.#gone))
    try {
      await this.#openSessions(missing.map(({ device }) => device.jid))
      addressed.push(...(await this.#seal(missing)))
    } finally {
      leave?.()
    }
    return addressed
  }

  /** A device that the server has no keys of must not keep the others from their message. */
  async #openSessions(jids: string[]): Promise<void> {
    const open = (some: string[]) => this.#socket.assertSessions(some, false)
    await open(jids).catch(() => Promise.all(jids.map((jid) => open([jid]).catch(() => false))))
  }

  async #seal(items: readonly Item[]): Promise<Addressed[]> {
    const sealed = await this.#repository.encryptAll(items.map(({ device, data }) => ({ jid: device.jid, data })))
    return items.flatMap(({ device }, index) => (sealed[index] ? [{ device, sealed: sealed[index] }] : []))
  }

  async #envelope(
    { chat, id, message, envelope }: SealRequest,
    more: Record<string, string>,
    content: BinaryNode[],
    addressed: readonly Addressed[],
  ): Promise<BinaryNode> {
    const attrs = { id, to: chat, type: labelsOf(message).type, ...more, ...envelope }
    const isFirst = addressed.some(({ sealed }) => sealed.type === 'pkmsg')
    const identity = isFirst ? deviceIdentity(this.#socket) : []
    const report = await reportOf(message, { id, remoteJid: chat, fromMe: true })
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
  return new SendError('not_sent', `the message was not sent: no keys of ${count} recipients to be had`)
}

/** Vouches for this device before those who have no session with it. */
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

/** Lets the network check what a recipient reports, without reading anything else. */
async function reportOf(message: proto.IMessage, key: proto.IMessageKey): Promise<BinaryNode[]> {
  if (!message.messageContextInfo?.messageSecret) return []
  const bytes = Buffer.from(proto.Message.encode(message).finish())
  const node = await getMessageReportingToken(bytes, message, key)
  return node ? [node] : []
}
