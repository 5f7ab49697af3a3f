// Routes a message stanza from its sender to every recipient device, in the form that each device sees.
import type { proto } from '../library.ts'
import { isGroupJid, isLidJid, parseJid, STATUS_JID, withoutDevice } from '../wire/jid.ts'
import { allChildren, bytesOf, child, children, unixSeconds, type Attributes, type Stanza } from '../wire/stanza.ts'
import { addressRefusal } from './address-rules.ts'
import type { Directory } from './directory.ts'
import { OptionalParts } from './optional-parts.ts'
import { participantHash } from './participant-hash.ts'
import type { Addressing, Device, User } from './user.ts'
import type { SimClock } from '../../shiftable-clock.ts'

/** The facts about a group that routing needs. */
export interface GroupMembership {
  readonly jid: string
  readonly addressing: Addressing
  /** After how many seconds its messages disappear; 0 or undefined when they stay. */
  readonly ephemeralSeconds?: number
  members(): Iterable<User>
  /** `type` is the type of the stanza, such as `text` or `reaction`. */
  maySend(user: User, type: string | undefined): boolean
  /** Devices that get the ciphertexts of the group although their owners are no members. */
  readonly listeners?: Iterable<Device>
}
type Deps = {
  directory: Directory
  clock: SimClock
  findGroup: (jid: string) => GroupMembership | undefined
  /** The server has accepted a message from one user to another. */
  onPersonal: (sender: User, recipient: User) => void
}
type Fanout = {
  sender: User
  node: Stanza
  plain: proto.IMessage | undefined
  direct: Map<Device, Stanza>
  shared: Stanza[]
}

const STALE_ADDRESSING = 421
/** Children that the server passes on. Others, such as privacy tokens, are only for the server. */
const HANDED_ON = new Set(['device-identity', 'unavailable', 'meta', 'url_number', 'rcat', 'reporting'])

export class MessageSwitch {
  readonly parts = new OptionalParts()
  readonly #directory: Directory
  readonly #findGroup: (jid: string) => GroupMembership | undefined
  readonly #clock: SimClock
  readonly #onPersonal: Deps['onPersonal']

  constructor({ directory, clock, findGroup, onPersonal }: Deps) {
    this.#directory = directory
    this.#onPersonal = onPersonal
    this.#clock = clock
    this.#findGroup = findGroup
  }

  /** Returns undefined for an accepted message, or the error code for the acknowledgement. */
  route(sender: Device, sent: Stanza, plain?: proto.IMessage): number | undefined {
    const node: Stanza = { ...sent, attrs: { ...sent.attrs, t: sent.attrs.t ?? unixSeconds(this.#clock) } }
    const to = node.attrs.to ?? ''
    const direct = this.#addressed(node)
    const fanout = { sender: sender.user, node, plain, direct, shared: sharedParts(node) }
    const shared = isGroupJid(to) || to === STATUS_JID
    return shared ? this.#toGroup(sender, to, fanout) : this.#toUser(sender, to, fanout)
  }

  /** The hash for the acknowledgement. Undefined when the sender knows the same devices as the server. */
  hashFor(sender: Device, node: Stanza): string | undefined {
    const { to = '', participant, phash, device_fanout: fanout, category } = node.attrs
    // These messages are for single devices.
    if (participant !== undefined || fanout === 'false' || category === 'peer') return undefined
    const group = isGroupJid(to) ? this.#findGroup(to) : undefined
    if (group) {
      const hash = participantHash([...group.members()].flatMap(devicesOf), group.addressing)
      return hash === phash ? undefined : hash
    }
    const user = this.#directory.find(to)
    if (!user || sharedParts(node).length > 0) return undefined
    const devices = new Set([...devicesOf(user), ...devicesOf(sender.user)])
    const addressed = new Set([...this.#addressed(node).keys(), sender])
    const isSame = children(child(node, 'participants'), 'to').length === devices.size - 1
    if (isSame && devices.isSubsetOf(addressed)) return undefined
    return participantHash(devices, isLidJid(to) ? 'lid' : 'pn')
  }

  #toUser(sender: Device, to: string, fanout: Fanout): number | undefined {
    const user = this.#directory.find(to)
    if (!user) return 404
    // An <enc> outside <participants> is for one device: a repeated message, or a message to the own phone.
    const single = fanout.shared.length > 0 ? user.devices.get(parseJid(to).device) : undefined
    if (fanout.shared.length > 0 && !single) return 404
    const refused = single ? undefined : addressRefusal(sender.user, user, fanout.node)
    if (refused !== undefined) return refused
    sender.user.correspondents.add(user)
    user.correspondents.add(sender.user)
    this.#onPersonal(sender.user, user)
    const recipients = [...user.devices.values(), ...sender.user.devices.values()]
    for (const target of single ? [single] : new Set(recipients)) {
      if (target === sender) continue
      this.#hand(target, userEnvelope(sender, target, user, fanout.node), fanout)
    }
    return undefined
  }

  #toGroup(sender: Device, to: string, fanout: Fanout): number | undefined {
    const group = this.#findGroup(to)
    if (!group) return 404
    if (!group.maySend(sender.user, fanout.node.attrs.type)) return 403
    const envelope = groupEnvelope(sender, group, fanout.node)
    const only = fanout.node.attrs.participant
    if (only !== undefined) {
      const device = this.#directory.device(only)
      if (device) this.#hand(device, envelope, fanout)
      return device ? undefined : 404
    }
    const { addressing_mode: addressing = group.addressing } = fanout.node.attrs
    if (addressing !== group.addressing) return STALE_ADDRESSING
    // Built once: a large group has many devices that get nothing of their own.
    const same = this.#seenBy(undefined, envelope, fanout)
    for (const target of [...group.members()].flatMap(devicesOf)) {
      if (target === sender) continue
      if (fanout.direct.has(target)) this.#hand(target, envelope, fanout)
      else if (same) target.deliver(same, fanout.plain)
    }
    for (const target of group.listeners ?? []) if (same) target.deliver(same, fanout.plain)
    return undefined
  }

  #hand(target: Device, envelope: Attributes, fanout: Fanout): void {
    const seen = this.#seenBy(target, envelope, fanout)
    if (seen) target.deliver(seen, fanout.plain)
  }

  /** The stanza as a device sees it, or without a device: what all see to whom the sender addressed no part. */
  #seenBy(target: Device | undefined, envelope: Attributes, fanout: Fanout): Stanza | undefined {
    const { sender, node, plain, direct, shared } = fanout
    const own = target && direct.get(target)
    const sealed = [...(own ? [own] : []), ...shared]
    const handedOn = allChildren(node).filter((one) => HANDED_ON.has(one.tag))
    // The sender did not know this device. A real server answers with a hash mismatch.
    if (sealed.length === 0 && !plain && !child(node, 'unavailable')) return undefined
    return this.parts.message({ tag: node.tag, sender, envelope }, [...sealed, ...handedOn])
  }

  #addressed(node: Stanza): Map<Device, Stanza> {
    const result = new Map<Device, Stanza>()
    for (const to of children(child(node, 'participants'), 'to')) {
      const device = to.attrs.jid === undefined ? undefined : this.#directory.device(to.attrs.jid)
      const sealed = child(to, 'enc')
      if (device && sealed) result.set(device, sealed)
    }
    return result
  }
}

/** The parts for all devices. A message for a few devices of a group carries an empty one. */
function sharedParts(node: Stanza): Stanza[] {
  return children(node, 'enc').filter((one) => (bytesOf(one)?.length ?? 0) > 0)
}

function devicesOf(user: User): Device[] {
  return [...user.devices.values()]
}

function common(sender: Device, node: Stanza): Attributes {
  const { id, type, edit, category, t } = node.attrs
  return { id, type, edit, category, t, notify: sender.user.pushName }
}

function userEnvelope(sender: Device, target: Device, chat: User, node: Stanza): Attributes {
  const lid = isLidJid(node.attrs.to ?? '')
  const from = sender.user.jid(lid ? 'lid' : 'pn', sender.id)
  const own = target.user === sender.user && node.attrs.category !== 'peer'
  if (own) {
    const recipient = withoutDevice(node.attrs.recipient ?? node.attrs.to ?? '')
    const other = lid ? { peer_recipient_pn: chat.shownPhone } : { peer_recipient_lid: chat.shownLid }
    return { ...common(sender, node), from, recipient, ...other }
  }
  const other = lid ? { sender_pn: sender.user.shownPhone } : { sender_lid: sender.user.shownLid }
  return { ...common(sender, node), from, ...other }
}

function groupEnvelope(sender: Device, group: GroupMembership, node: Stanza): Attributes {
  const participant = sender.user.jid(group.addressing, sender.id)
  const other =
    group.addressing === 'lid' ? { participant_pn: sender.user.shownPhone } : { participant_lid: sender.user.shownLid }
  return { ...common(sender, node), from: group.jid, participant, ...other, addressing_mode: group.addressing }
}
