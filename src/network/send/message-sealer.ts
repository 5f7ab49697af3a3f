// Prepares a message for its chat: finds the recipients' devices and seals the message for them.

import { phoneDomain } from '../../core/address.ts'
import type { Jid } from '../../core/ids.ts'
import { SendError } from '../../core/network.ts'
import { writeReason } from '../../core/reasons/reason.ts'
import { eventLoopShare } from '../../lib/event-loop-share.ts'
import { ignoreRejection } from '../../lib/ignore.ts'
import type { Account } from '../account/account.ts'
import { userOf } from './device-directory.ts'
import type { Device, DeviceDirectory } from './device-directory.ts'
import { groupAttributes } from './group-rosters.ts'
import type { GroupRosters, Roster } from './group-rosters.ts'
import type { MissedDevices } from './missed-devices.ts'
import { participantHash } from './participant-hash.ts'
import { isJidGroup, jidDecode } from '../library/library.ts'
import type { BinaryNode, WASocket } from '../library/library.ts'
import { ownIdentity } from './own-identity.ts'
import type { SealRequest, StanzaSealer, WithoutDeadline } from './stanza-sealer.ts'
import { findPerson } from '../queries/find-person.ts'
import { PrivacyTokens } from './privacy-tokens.ts'
import { isHolder, limitRenewals } from '../account/sender-key-holders.ts'
import type { Holders, SenderKeyHolders } from '../account/sender-key-holders.ts'
import type { Ask } from '../queries/user-sync.ts'

type Deps = {
  socket: WASocket
  account: Account
  keyHolders: SenderKeyHolders
  directory: DeviceDirectory
  rosters: GroupRosters
  ask: Ask
  sealer: StanzaSealer
  missed: MissedDevices
}
/** A stanza to write, and what to do when it is written and when it is acknowledged. */
type SealedMessage = { stanza: BinaryNode; written?: () => void; acknowledged?: () => void }

export class MessageSealer {
  readonly #deps: Deps
  readonly #tokens: PrivacyTokens

  constructor(deps: Deps) {
    this.#deps = deps
    this.#tokens = new PrivacyTokens(deps.socket)
  }

  /** When this resolves, the keys of the sealed message are on disk. */
  seal(request: SealRequest, withoutDeadline: WithoutDeadline): Promise<SealedMessage> {
    const isGroup = isJidGroup(request.chat)
    return isGroup ? this.#forGroup(request, withoutDeadline) : this.#forPerson(request, withoutDeadline)
  }

  /** After a refusal the remembered devices of the recipients are not trusted any more. */
  forget(chat: Jid): void {
    if (isJidGroup(chat)) this.#deps.rosters.forget(chat)
    else this.#deps.account.devices.del(userOf(chat))
  }

  /** The network says that what we know of the recipients is out of date: the members and all devices are asked for again. */
  async refresh(chat: Jid): Promise<void> {
    const { account, rosters, socket } = this.#deps
    if (isJidGroup(chat)) await rosters.refresh(chat)
    else account.devices.delAll([chat, ownIdentity(socket).jidFor(chat)].map(userOf))
  }

  async #forPerson(request: SealRequest, withoutDeadline: WithoutDeadline): Promise<SealedMessage> {
    const { chat, message } = request
    const { directory, missed, sealer, socket } = this.#deps
    const own = ownIdentity(socket)
    const { devices, unnamed, without } = await directory.find([own.jidFor(chat), chat])
    if (unnamed.length + without.length > 0) throw await this.#unreachable(chat, unnamed.length + without.length)
    const { nodes, written } = await this.#tokens.forMessageTo(chat, message)
    await eventLoopShare.next()
    const welcome = { ...request, nodes }
    const stanza = await sealer.toPerson(welcome, devices, withoutDeadline)
    const sender = own.senderIn(jidDecode(chat)?.server ?? '')
    missed.expect({
      request: welcome,
      devices,
      hash: () => participantHash([...devices.map(({ jid }) => jid), sender]),
    })
    return { stanza, written }
  }

  async #forGroup(request: SealRequest, withoutDeadline: WithoutDeadline, renewed = 0): Promise<SealedMessage> {
    limitRenewals(renewed)
    const { chat } = request
    const { keyHolders, rosters, socket, sealer, missed } = this.#deps
    const renewals = keyHolders.renewalsOf(chat)
    const roster = await rosters.of(chat)
    const { metadata, devices, marks, hash } = roster
    const holders = await keyHolders.of(chat)
    if (isOutdated(holders, roster)) {
      await keyHolders.renew(chat)
      return this.#forGroup(request, withoutDeadline, renewed + 1)
    }
    const attrs = groupAttributes(metadata)
    const own = ownIdentity(socket)
    const hasKey = (device: Device) => isHolder(holders, device, marks)
    const beforeKey = (targets: readonly Device[]) => this.#noteGiven(chat, targets, holders)
    await eventLoopShare.next()
    const fanOut = { devices, sender: own.senderIn(attrs.addressing_mode), attrs, hash, hasKey, beforeKey }
    const { stanza, given } = await sealer.toGroup(request, fanOut, withoutDeadline)
    // A member has left meanwhile, and the message is sealed with the old key.
    if (renewals !== keyHolders.renewalsOf(chat)) return this.#forGroup(request, withoutDeadline, renewed + 1)
    const readers = [...given, ...devices.filter(hasKey)]
    const others = metadata.participants.filter(({ id }) => !own.isOwn(userOf(id)))
    if (others.length > 0 && !readers.some(({ user }) => !own.isOwn(user))) throw unreachableGroupError()
    missed.expect({ request, devices, hash: () => hash })
    if (given.length === 0) return { stanza }
    // If this fails, the next message carries the key again.
    const acknowledged = () => void keyHolders.confirm(chat, given, { marks, renewals }).catch(ignoreRejection)
    return { stanza, acknowledged }
  }

  /** A device without a session is a target of every message, but it is noted only once. */
  async #noteGiven(chat: Jid, targets: readonly Device[], holders: Holders): Promise<void> {
    const unnoted = targets.map(({ jid }) => jid).filter((jid) => !(jid in holders))
    if (unnoted.length > 0) await this.#deps.keyHolders.noteGiven(chat, unnoted)
  }

  /** Asks whether the number is on the network at all, for a better error. */
  async #unreachable(chat: Jid, missing: number): Promise<SendError> {
    const { user, server } = jidDecode(chat) ?? {}
    const found = server === phoneDomain ? findPerson(this.#deps.ask, user ?? '') : undefined
    const isUnknown = (await found?.catch(ignoreRejection)) === null
    if (!isUnknown) return unnamedError(missing)
    return new SendError('refused', writeReason('phoneUnknown'))
  }
}

/** Whether a device that may have the key does not belong to the group any more. */
function isOutdated(holders: Holders, { jids, unnamed }: Roster): boolean {
  const strangers = Object.keys(holders).filter((jid) => !jids.has(jid))
  if (strangers.length === 0) return false
  // The server did not say which devices these members have.
  const unknown = new Set(unnamed.map(userOf))
  return strangers.some((jid) => !unknown.has(userOf(jid)))
}

/** In this case the library would send to the owner's phone only and report success. */
function unnamedError(count: number): SendError {
  return new SendError('not_sent', writeReason('devicesUnknown', { count }))
}

function unreachableGroupError(): SendError {
  return new SendError('not_sent', writeReason('groupUnreachable'))
}
