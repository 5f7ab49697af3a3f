// Makes a message ready for its chat: who gets it is known, and it is sealed for every device of theirs.

import { phoneDomain } from '../../core/address.ts'
import { SendError } from '../../core/network.ts'
import type { Clock } from '../../lib/clock.ts'
import { eventLoopShare } from '../../lib/event-loop-share.ts'
import type { Account } from '../account/account.ts'
import { DeviceDirectory } from './device-directory.ts'
import { GroupRosters } from './group-rosters.ts'
import { isJidGroup, jidDecode } from '../library/library.ts'
import type { BinaryNode, GroupMetadata, WASocket } from '../library/library.ts'
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
  memory: SenderKeyHolders
  clock: Clock
  ask: Ask
  gone: AbortSignal
}
/** A stanza to be written, and what is to be done once it was written or acknowledged. */
export type SealedMessage = { stanza: BinaryNode; written?: () => void; acknowledged?: () => void }

export class MessageSealer {
  readonly #deps: Deps
  readonly #directory: DeviceDirectory
  readonly #rosters: GroupRosters
  readonly #sealer: StanzaSealer
  readonly #tokens: PrivacyTokens

  constructor(deps: Deps) {
    this.#deps = deps
    const { socket, account, ask, clock } = deps
    this.#directory = new DeviceDirectory({ socket, cache: account.devices, ask })
    this.#rosters = new GroupRosters({ socket, directory: this.#directory, clock })
    this.#sealer = new StanzaSealer(socket, deps.gone)
    this.#tokens = new PrivacyTokens(socket)
  }

  /** What is remembered of a group, for the library. */
  rememberedGroup(jid: string): GroupMetadata | undefined {
    return this.#rosters.remembered(jid)
  }

  /** `unhurried` is how it waits behind others. */
  seal(draft: SealRequest, withoutDeadline: WithoutDeadline): Promise<SealedMessage> {
    return isJidGroup(draft.chat) ? this.#forGroup(draft, withoutDeadline) : this.#forPerson(draft, withoutDeadline)
  }

  /** After a refusal nothing that is remembered of the recipients is trusted. */
  forget(chat: string): void {
    if (isJidGroup(chat)) this.#rosters.forget(chat)
    else this.#deps.account.devices.del(userOf(chat))
  }

  async #forPerson(draft: SealRequest, withoutDeadline: WithoutDeadline): Promise<SealedMessage> {
    const { chat } = draft
    const own = ownIdentity(this.#deps.socket)
    const { devices, unnamed, without } = await this.#directory.find([own.jidFor(chat), chat])
    if (unnamed.length + without.length > 0) throw await this.#unreachable(chat, unnamed.length + without.length)
    const { nodes, after } = await this.#tokens.forMessageTo(chat)
    await eventLoopShare.next()
    const stanza = await this.#sealer.toPerson(draft, devices, withoutDeadline)
    return { stanza: { ...stanza, content: [...(stanza.content as BinaryNode[]), ...nodes] }, written: after }
  }

  async #forGroup(draft: SealRequest, withoutDeadline: WithoutDeadline): Promise<SealedMessage> {
    const { chat } = draft
    const { memory, socket } = this.#deps
    const { metadata, devices } = await this.#rosters.of(chat)
    const { addressingMode = 'lid', ephemeralDuration } = metadata
    const attrs = { addressing_mode: addressingMode, ...(ephemeralDuration && { expiration: `${ephemeralDuration}` }) }
    const holders = await memory.holders(chat)
    const hasKey = (jid: string) => holders[jid] === true
    const own = ownIdentity(socket)
    const sender = own.senderIn(addressingMode)
    await eventLoopShare.next()
    const { stanza, given } = await this.#sealer.toGroup(draft, { devices, sender, attrs, hasKey }, withoutDeadline)
    const readers = new Set([...given, ...devices.map(({ jid }) => jid).filter(hasKey)])
    const others = metadata.participants.filter(({ id }) => !own.isOwn(userOf(id)))
    if (others.length > 0 && !readers.values().some((jid) => !own.isOwn(userOf(jid)))) throw nobodyError()
    if (given.length === 0) return { stanza }
    // Not remembered means only that the next message carries the key again.
    const acknowledged = () => void memory.add(chat, given).catch(() => undefined)
    return { stanza, acknowledged }
  }

  /** Says whether the number is on the network at all. */
  async #unreachable(chat: string, missing: number): Promise<SendError> {
    const { user, server } = jidDecode(chat) ?? {}
    const found = server === phoneDomain ? findPerson(this.#deps.ask, user ?? '') : undefined
    const isUnknown = (await found?.catch(() => undefined)) === null
    if (!isUnknown) return unnamedError(missing)
    return new SendError('refused', 'this phone number is not on WhatsApp')
  }
}

/** The library would send to the own phone alone, and call that a success. */
function unnamedError(count: number): SendError {
  return new SendError(
    'not_sent',
    `the message was not sent: the network did not name the devices of ${count} recipients`,
  )
}

function nobodyError(): SendError {
  return new SendError(
    'not_sent',
    'the message was not sent: the network has neither devices nor keys of anybody in this group just now',
  )
}

function userOf(jid: string): string {
  return jidDecode(jid)?.user ?? ''
}
