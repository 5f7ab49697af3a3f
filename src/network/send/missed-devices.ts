// Sends a message also to the devices that the account did not know of when it sealed the message.
//
// The server compares lists of devices by their hash. If the hash in its acknowledgement differs from ours, the lists are
// asked for again, and the message goes to the missing devices under the same id. This is tried once. If it fails, the device
// of a group's member asks for the message itself. A device of a person does not get it: the person's other devices have it.

import type { Jid } from '../../core/ids.ts'
import { BoundedMap } from '../../lib/bounded-map.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import type { Account } from '../account/account.ts'
import { limitRenewals } from '../account/sender-key-holders.ts'
import type { SenderKeyHolders } from '../account/sender-key-holders.ts'
import { isJidGroup } from '../library/library.ts'
import type { BinaryNode, WASocket } from '../library/library.ts'
import { userOf } from './device-directory.ts'
import type { Device, DeviceDirectory } from './device-directory.ts'
import { groupAttributes } from './group-rosters.ts'
import type { GroupRosters } from './group-rosters.ts'
import { ownIdentity } from './own-identity.ts'
import type { SealRequest, StanzaSealer } from './stanza-sealer.ts'

type Deps = {
  socket: WASocket
  account: Pick<Account, 'sessionId'>
  sealer: StanzaSealer
  directory: DeviceDirectory
  rosters: GroupRosters
  keyHolders: SenderKeyHolders
  clock: Clock
  log: Log
}
/** `users` are those whom the message was sealed for. */
type Lists = { users: Set<string>; isMissing: (one: Device) => boolean; serverHash: string }
/** The lists were asked for because the server sent this hash. */
type Refresh = { serverHash: string; done: Promise<void> }
/** A message on its way, the devices that it is sealed for, and their hash. */
type Sent = { request: SealRequest; devices: readonly Device[]; hash: () => string }

const messagesKept = 1_000
const messageMs = 2 * 60_000
/** For the same hash of the server the lists of a chat are asked for at most once in this time. */
const refreshMs = 60_000
const chatsKept = 200
const once = { device_fanout: 'false' }

export class MissedDevices {
  readonly #deps: Deps
  readonly #sent: BoundedMap<Sent>
  readonly #refreshed: BoundedMap<Refresh>

  constructor(deps: Deps) {
    const { clock, socket } = deps
    this.#deps = deps
    this.#sent = new BoundedMap({ clock, max: messagesKept, ttlMs: messageMs })
    this.#refreshed = new BoundedMap({ clock, max: chatsKept, ttlMs: refreshMs })
    socket.ws.on('CB:ack,class:message', ({ attrs }: BinaryNode) => {
      this.#compare(attrs['id'] ?? '', attrs)
    })
  }

  /** To be called before the message leaves. */
  expect(sent: Sent): void {
    this.#sent.set(sent.request.id, sent)
  }

  #compare(id: string, { error, phash }: Record<string, string>): void {
    const sent = this.#sent.get(id)
    this.#sent.delete(id)
    if (!sent || error !== undefined || phash === undefined || phash === sent.hash()) return
    const { account, log } = this.#deps
    const line = { session: account.sessionId, message_id: id, is_group: isJidGroup(sent.request.chat) === true }
    this.#repair(sent, phash).then(
      (isSent) => {
        log.debug({ ...line, is_sent: isSent }, 'the network knows other devices of the recipients')
      },
      (err: unknown) => {
        log.warn({ ...line, err }, 'a message did not reach a device that only the network knew')
      },
    )
  }

  /** False when no device is missing, or when the keys of none can be had. */
  async #repair({ request, devices }: Sent, serverHash: string): Promise<boolean> {
    const { socket } = this.#deps
    const { chat } = request
    const own = ownIdentity(socket)
    const known = new Set(devices.map(({ jid }) => jid))
    const isMissing = (one: Device) => !known.has(one.jid) && !own.isThis(one)
    const resent = { ...request, envelope: { ...request.envelope, ...once } }
    await this.#refresh(chat, serverHash)
    const stanza = isJidGroup(chat)
      ? await this.#forGroup(resent, { users: usersOf(devices), isMissing, serverHash })
      : await this.#forPerson(resent, isMissing)
    if (stanza) await socket.sendNode(stanza)
    return stanza !== undefined
  }

  async #forGroup(request: SealRequest, lists: Lists, renewed = 0): Promise<BinaryNode | undefined> {
    limitRenewals(renewed)
    const { keyHolders, rosters, sealer, socket } = this.#deps
    const { chat } = request
    const { users, isMissing, serverHash } = lists
    const renewals = keyHolders.renewalsOf(chat)
    const { metadata, devices, hash } = await rosters.of(chat)
    // With the server's hash these were the members when the message came. Otherwise a member may have joined later.
    const isAllowed = ({ user }: Device) => hash === serverHash || users.has(user)
    const missing = devices.filter((one) => !one.isHosted && isMissing(one) && isAllowed(one))
    if (missing.length === 0) return undefined
    const attrs = groupAttributes(metadata)
    const sender = ownIdentity(socket).senderIn(attrs.addressing_mode)
    const jids = missing.map(({ jid }) => jid)
    await keyHolders.noteGiven(chat, jids)
    const stanza = await sealer.toMissed(request, { sender, attrs }, missing)
    // A member has left meanwhile. The stanza may hold the new key for this member, and the note about it is gone.
    if (renewals !== keyHolders.renewalsOf(chat)) return this.#forGroup(request, lists, renewed + 1)
    return stanza
  }

  async #forPerson(request: SealRequest, isMissing: (one: Device) => boolean): Promise<BinaryNode | undefined> {
    const { directory, sealer } = this.#deps
    const { devices } = await directory.find(this.#bothSides(request.chat))
    const missing = devices.filter(isMissing)
    return missing.length > 0 ? sealer.toPerson(request, missing, (wait) => wait()) : undefined
  }

  /** Messages at once share one question. */
  #refresh(chat: Jid, serverHash: string): Promise<void> {
    const { directory, rosters } = this.#deps
    const last = this.#refreshed.get(chat)
    if (last?.serverHash === serverHash) return last.done
    const done = isJidGroup(chat) ? rosters.refresh(chat) : directory.refresh(this.#bothSides(chat))
    const refresh = { serverHash, done }
    this.#refreshed.set(chat, refresh)
    done.catch(() => {
      if (this.#refreshed.get(chat) === refresh) this.#refreshed.delete(chat)
    })
    return done
  }

  #bothSides(chat: Jid): Jid[] {
    return [ownIdentity(this.#deps.socket).jidFor(chat), chat]
  }
}

function usersOf(devices: readonly Device[]): Set<string> {
  return new Set(devices.map(({ jid }) => userOf(jid)))
}
