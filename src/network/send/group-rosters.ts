// Remembers the members of groups and their devices, for a few minutes or until the network reports a change.

import type { Jid } from '../../core/ids.ts'
import { SendError } from '../../core/network.ts'
import { writeReason } from '../../core/reasons/reason.ts'
import { BoundedMap } from '../../lib/bounded-map.ts'
import type { Clock } from '../../lib/clock.ts'
import { ignoreRejection } from '../../lib/ignore.ts'
import type { IdentityChanges, Marks } from '../account/identity-changes.ts'
import { userOf } from './device-directory.ts'
import type { DeviceDirectory, Found } from './device-directory.ts'
import type { BinaryNode, GroupMetadata, WASocket } from '../library/library.ts'
import { ownIdentity } from './own-identity.ts'
import { participantHash } from './participant-hash.ts'

type Deps = { socket: WASocket; directory: DeviceDirectory; identities: IdentityChanges; clock: Clock }
/** `jids` are those of the devices. `hash` is the hash of the devices and of this one. */
type Members = Found & { jids: ReadonlySet<Jid>; marks: Marks; hash: string }
export type Roster = Members & { metadata: GroupMetadata }
type Known = { metadata: Promise<GroupMetadata>; members?: { revision: number; members: Members } }

const trustedMs = 5 * 60 * 1000
const groupsKept = 200

export class GroupRosters {
  readonly #deps: Deps
  readonly #known: BoundedMap<Known>
  readonly #metadata: BoundedMap<GroupMetadata>

  constructor(deps: Deps) {
    this.#deps = deps
    this.#known = new BoundedMap({ clock: deps.clock, max: groupsKept, ttlMs: trustedMs })
    this.#metadata = new BoundedMap({ clock: deps.clock, max: groupsKept, ttlMs: trustedMs })
    deps.socket.ws.on('CB:notification', ({ attrs }: BinaryNode) => {
      if (attrs['type'] === 'w:gp2') this.forget(attrs['from'] ?? '')
    })
  }

  /** For the library, which would ask the server again. */
  remembered(group: Jid): GroupMetadata | undefined {
    return this.#metadata.get(group)
  }

  forget(group: Jid): void {
    this.#known.delete(group)
    this.#metadata.delete(group)
  }

  /** What the server tells about the group. */
  metadataOf(group: Jid): Promise<GroupMetadata> {
    return this.#knownOf(group).metadata
  }

  async of(group: Jid): Promise<Roster> {
    const known = this.#knownOf(group)
    const metadata = await known.metadata
    const { directory, identities } = this.#deps
    // The devices of the whole group are read again only if some devices or identities have changed.
    const revision = directory.revision + identities.revision
    if (known.members?.revision === revision) return { metadata, ...known.members.members }
    const members = await this.#membersOf(metadata)
    if (members.unnamed.length === 0) known.members = { revision, members }
    return { metadata, ...members }
  }

  /** Asks the server for the members and for their devices. */
  async refresh(group: Jid): Promise<void> {
    this.forget(group)
    const { participants } = await this.#ask(group).metadata
    await this.#deps.directory.refresh(participants.map(({ id }) => id))
  }

  /** `user` is a phone number or a LID. */
  async hasMember(group: Jid, user: string): Promise<boolean> {
    const { participants } = await (this.#known.get(group) ?? this.#ask(group)).metadata
    return participants.some((one) => namesOf(one).includes(user))
  }

  /** Asks the server again about a device that is not in the list of its owner. */
  async hasDevice(group: Jid, device: Jid): Promise<boolean> {
    if (await this.#lists(group, device)) return true
    await this.#deps.directory.refresh([device]).catch(ignoreRejection)
    return this.#lists(group, device)
  }

  async #lists(group: Jid, device: Jid): Promise<boolean> {
    const { jids, unnamed } = await this.of(group)
    // The server did not say which devices the unnamed members have.
    return jids.has(device) || unnamed.some((jid) => userOf(jid) === userOf(device))
  }

  async #membersOf(metadata: GroupMetadata): Promise<Members> {
    const { directory, identities, socket } = this.#deps
    const ids = metadata.participants.map(({ id }) => id)
    const [found, marks] = await Promise.all([
      directory.find(ids),
      identities.marksOf(metadata.participants.map(namesOf)),
    ])
    const sender = ownIdentity(socket).senderIn(groupAttributes(metadata).addressing_mode)
    const named = found.devices.filter(({ isHosted }) => !isHosted).map(({ jid }) => jid)
    const hash = participantHash([...named, sender])
    return { ...found, marks, hash, jids: new Set(found.devices.map(({ jid }) => jid)) }
  }

  #knownOf(group: Jid): Known {
    return this.#known.get(group) ?? this.#ask(group)
  }

  /** Asks once, even if many messages wait for the answer. */
  #ask(group: Jid): Known {
    const known: Known = { metadata: this.#deps.socket.groupMetadata(group).catch(explain) }
    this.#known.set(group, known)
    known.metadata.then(
      (metadata) => {
        if (this.#known.get(group) === known) this.#metadata.set(group, metadata)
      },
      () => {
        if (this.#known.get(group) === known) this.#known.delete(group)
      },
    )
    return known
  }
}

/** The attributes that every stanza to the group has. */
export function groupAttributes({ addressingMode, ephemeralDuration }: GroupMetadata) {
  return { addressing_mode: addressingMode ?? 'lid', ...(ephemeralDuration && { expiration: `${ephemeralDuration}` }) }
}

/** The names of a member, first the one by which the group addresses the member. */
function namesOf({ id, lid, phoneNumber }: GroupMetadata['participants'][number]): string[] {
  return [id, lid, phoneNumber].flatMap((jid) => (jid === undefined ? [] : userOf(jid)))
}

const notAllowed = new Set([401, 403, 404, 410])

/** The library puts the network's code into the error's data. */
function explain(cause: unknown): never {
  const code = cause instanceof Error && 'data' in cause ? Number(cause.data) : NaN
  if (!notAllowed.has(code)) throw cause
  throw new SendError('refused', writeReason('notInGroup', { code }), { code, cause })
}
