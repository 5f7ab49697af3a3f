// Prepares a message for its chat: finds the recipients' devices and seals the message for them.

import { phoneDomain } from '../../core/address.ts'
import type { Jid } from '../../core/ids.ts'
import { SendError } from '../../core/network.ts'
import { writeReason } from '../../core/reasons/reason.ts'
import { eventLoopShare } from '../../lib/event-loop-share.ts'
import { ignoreRejection } from '../../lib/ignore.ts'
import type { Account } from '../account/account.ts'
import { userOf } from './device-directory.ts'
import type { DeviceDirectory } from './device-directory.ts'
import type { GroupRosters } from './group-rosters.ts'
import { isJidGroup, jidDecode } from '../library/library.ts'
import type { BinaryNode, WASocket } from '../library/library.ts'
import { ownIdentity } from './own-identity.ts'
import { StanzaSealer } from './stanza-sealer.ts'
import type { SealRequest, WithoutDeadline } from './stanza-sealer.ts'
import { findPerson } from '../queries/find-person.ts'
import { PrivacyTokens } from './privacy-tokens.ts'
import type { SenderKeyHolders } from '../account/sender-key-holders.ts'
import type { Ask } from '../queries/user-sync.ts'

type Deps = {
  socket: WASocket
  account: Account
  keyHolders: SenderKeyHolders
  directory: DeviceDirectory
  rosters: GroupRosters
  ask: Ask
  gone: AbortSignal
}
/** A stanza to write, and what to do when it is written and when it is acknowledged. */
type SealedMessage = { stanza: BinaryNode; written?: () => void; acknowledged?: () => void }

export class MessageSealer {
  readonly #deps: Deps
  readonly #sealer: StanzaSealer
  readonly #tokens: PrivacyTokens

  constructor(deps: Deps) {
    this.#deps = deps
    this.#sealer = new StanzaSealer(deps.socket, deps.gone)
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

  /** The network says that what we know of the recipients is out of date: their devices and the members are asked for again. */
  refresh(chat: Jid): void {
    const { account, rosters, socket } = this.#deps
    const members = rosters.remembered(chat)?.participants.map(({ id }) => id)
    for (const jid of members ?? [chat, ownIdentity(socket).jidFor(chat)]) account.devices.del(userOf(jid))
    this.forget(chat)
  }

  async #forPerson(request: SealRequest, withoutDeadline: WithoutDeadline): Promise<SealedMessage> {
    const { chat, message } = request
    const own = ownIdentity(this.#deps.socket)
    const { devices, unnamed, without } = await this.#deps.directory.find([own.jidFor(chat), chat])
    if (unnamed.length + without.length > 0) throw await this.#unreachable(chat, unnamed.length + without.length)
    const { nodes, written } = await this.#tokens.forMessageTo(chat, message)
    await eventLoopShare.next()
    const stanza = await this.#sealer.toPerson(request, devices, withoutDeadline)
    return { stanza: { ...stanza, content: [...(stanza.content as BinaryNode[]), ...nodes] }, written }
  }

  async #forGroup(request: SealRequest, withoutDeadline: WithoutDeadline): Promise<SealedMessage> {
    const { chat } = request
    const { keyHolders, rosters, socket } = this.#deps
    const { metadata, devices } = await rosters.of(chat)
    const { addressingMode = 'lid', ephemeralDuration } = metadata
    const attrs = { addressing_mode: addressingMode, ...(ephemeralDuration && { expiration: `${ephemeralDuration}` }) }
    const holders = await keyHolders.of(chat)
    const hasKey = (jid: Jid) => holders[jid] === true
    const own = ownIdentity(socket)
    const sender = own.senderIn(addressingMode)
    await eventLoopShare.next()
    const { stanza, given } = await this.#sealer.toGroup(request, { devices, sender, attrs, hasKey }, withoutDeadline)
    const readers = new Set([...given, ...devices.map(({ jid }) => jid).filter(hasKey)])
    const others = metadata.participants.filter(({ id }) => !own.isOwn(userOf(id)))
    if (others.length > 0 && !readers.values().some((jid) => !own.isOwn(userOf(jid)))) throw unreachableGroupError()
    if (given.length === 0) return { stanza }
    // If this fails, the next message carries the key again.
    const acknowledged = () => void keyHolders.add(chat, given).catch(ignoreRejection)
    return { stanza, acknowledged }
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

/** In this case the library would send to the owner's phone only and report success. */
function unnamedError(count: number): SendError {
  return new SendError('not_sent', writeReason('devicesUnknown', { count }))
}

function unreachableGroupError(): SendError {
  return new SendError('not_sent', writeReason('groupUnreachable'))
}
