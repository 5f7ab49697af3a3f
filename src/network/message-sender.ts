// Sends messages: encoded, sealed for everybody's devices, written, acknowledged. Only the last is "sent".
//
// Until the stanza is written nothing has left, and a failure says so; from then on only the server's word counts.

import { randomBytes } from 'node:crypto'
import type { Agent } from 'node:https'
import { phoneDomain } from '../core/address.ts'
import { SendError } from '../core/network.ts'
import type { OutgoingContent } from '../core/network.ts'
import { withDeadline } from '../lib/clock.ts'
import type { Clock } from '../lib/clock.ts'
import type { Account } from './account.ts'
import { Acknowledgements } from './acknowledgements.ts'
import { DeviceDirectory } from './device-directory.ts'
import { encodeContent, envelopeOf } from './encode-content.ts'
import { encodeFile } from './encode-file.ts'
import { GroupRosters } from './group-rosters.ts'
import { isJidGroup, jidDecode } from './library.ts'
import type { BinaryNode, GroupMetadata, proto, WASocket } from './library.ts'
import { MediaHosts } from './media-hosts.ts'
import { MediaUpload } from './media-upload.ts'
import { ownIdentity } from './own-identity.ts'
import { StanzaSealer } from './outgoing-stanza.ts'
import type { Draft } from './outgoing-stanza.ts'
import { findPerson } from './people.ts'
import { PrivacyTokens } from './privacy-tokens.ts'
import type { Ask } from './user-sync.ts'

type Deps = {
  socket: WASocket
  account: Account
  clock: Clock
  gone: AbortSignal
  ask: Ask
  /** The way to the media hosts, when it is not the direct one. */
  agent: Agent | undefined
  /** What was sent under this id, by the service's own books. */
  findSent: (id: string) => Promise<OutgoingContent | null>
}
/** A stanza to be written, and what is true once it was written or acknowledged. */
type Ready = { stanza: BinaryNode; written?: () => void; acknowledged?: () => void }

/** Storage may be away, the server silent: then the message has not left and will not leave later. */
const preparationMs = 30_000
const keyHolders = 'sender-key-memory'

export class MessageSender {
  readonly #deps: Deps
  readonly #acknowledgements: Acknowledgements
  readonly #directory: DeviceDirectory
  readonly #rosters: GroupRosters
  readonly #sealer: StanzaSealer
  readonly #tokens: PrivacyTokens
  readonly #upload: MediaUpload
  #lastTurn: Promise<unknown> = Promise.resolve()

  constructor(deps: Deps) {
    this.#deps = deps
    const { socket, account, ask, clock } = deps
    this.#acknowledgements = new Acknowledgements(deps)
    this.#directory = new DeviceDirectory({ socket, cache: account.devices, ask })
    this.#rosters = new GroupRosters({ socket, directory: this.#directory, clock })
    this.#sealer = new StanzaSealer(socket)
    this.#tokens = new PrivacyTokens(socket)
    this.#upload = new MediaUpload({ ...deps, hosts: new MediaHosts(ask, clock) })
  }

  /** What is remembered of a group, for the library. */
  rememberedGroup(jid: string): GroupMetadata | undefined {
    return this.#rosters.remembered(jid)
  }

  async send(chat: string, content: OutgoingContent, id: string): Promise<void> {
    const { clock } = this.#deps
    const message = await this.#messageOf(chat, content, id)
    const preparing = this.#prepare({ chat, id, message, envelope: envelopeOf(content) })
    const { stanza, written, acknowledged } = await withDeadline(clock, preparationMs, preparing, () =>
      notSent(`it could not be made ready within ${preparationMs / 1000} s`),
    ).catch(rethrow)
    const answered = this.#acknowledgements.send(id, stanza)
    written?.()
    await answered.catch((error: unknown) => {
      this.#doubt(chat, error)
      throw error
    })
    acknowledged?.()
  }

  /** What somebody says he could not open. */
  async sentMessage(chat: string, id: string): Promise<proto.IMessage | undefined> {
    const { account, findSent } = this.#deps
    const remembered = account.sent.get(id)
    if (remembered) return remembered
    const content = await findSent(id)
    return content ? this.#messageOf(chat, content, id) : undefined
  }

  /** Encoded, and its file uploaded, once: a repeat under the same id says the same. */
  async #messageOf(chat: string, content: OutgoingContent, id: string): Promise<proto.IMessage> {
    const { account, gone } = this.#deps
    if (gone.aborted) throw notSent('the connection was lost')
    const message = account.sent.get(id) ?? (await this.#encode(chat, content).catch(rethrow))
    account.sent.set(id, message)
    return message
  }

  async #prepare(draft: Draft): Promise<Ready> {
    if (this.#deps.gone.aborted) throw notSent('the connection was lost')
    return isJidGroup(draft.chat) ? this.#forGroup(draft) : this.#forPerson(draft)
  }

  async #forPerson(draft: Draft): Promise<Ready> {
    const { chat } = draft
    const own = ownIdentity(this.#deps.socket)
    const { devices, unnamed, without } = await this.#directory.find([own.jidFor(chat), chat])
    if (unnamed.length + without.length > 0) throw await this.#unreachable(chat, unnamed.length + without.length)
    const { nodes, after } = await this.#tokens.forMessageTo(chat)
    await this.#turn()
    const stanza = await this.#sealer.toPerson(draft, devices)
    return { stanza: { ...stanza, content: [...(stanza.content as BinaryNode[]), ...nodes] }, written: after }
  }

  async #forGroup(draft: Draft): Promise<Ready> {
    const { chat } = draft
    const { account, socket } = this.#deps
    const { metadata, devices, unnamed } = await this.#rosters.of(chat)
    if (unnamed.length > 0) throw notSent(`the network did not name the devices of ${unnamed.length} members`)
    const { addressingMode = 'lid', ephemeralDuration } = metadata
    const attrs = { addressing_mode: addressingMode, ...(ephemeralDuration && { expiration: `${ephemeralDuration}` }) }
    const holders = await this.#holders(chat)
    const hasKey = (jid: string) => holders[jid] === true
    const sender = ownIdentity(socket).senderIn(addressingMode)
    await this.#turn()
    const { stanza, given } = await this.#sealer.toGroup(draft, { devices, sender, attrs, hasKey })
    if (given.length === 0) return { stanza }
    // Those who asked for the key meanwhile are not among the holders any more.
    const acknowledged = () => {
      const remember = async () => {
        const now = await this.#holders(chat)
        for (const jid of given) now[jid] = true
        await account.keys.set({ [keyHolders]: { [chat]: now } })
      }
      remember().catch(() => undefined)
    }
    return { stanza, acknowledged }
  }

  async #holders(group: string): Promise<Record<string, boolean>> {
    const { [group]: holders } = await this.#deps.account.keys.get(keyHolders, [group])
    return (holders ?? {}) as Record<string, boolean>
  }

  /** Says whether the number is on the network at all. */
  async #unreachable(chat: string, missing: number): Promise<SendError> {
    const { user, server } = jidDecode(chat) ?? {}
    const found = server === phoneDomain ? findPerson(this.#deps.ask, user ?? '') : undefined
    const isUnknown = (await found?.catch(() => undefined)) === null
    if (!isUnknown) return notSent(`the network did not name the devices of ${missing} recipients`)
    return new SendError('refused', 'this phone number is not on WhatsApp')
  }

  /** After a refusal nothing that is remembered of the recipients is trusted. */
  #doubt(chat: string, error: unknown): void {
    if (!(error instanceof SendError) || error.outcome !== 'refused') return
    if (isJidGroup(chat)) this.#rosters.forget(chat)
    else this.#deps.account.devices.del(jidDecode(chat)?.user ?? '')
  }

  /** One message is sealed per turn of the event loop, so that a burst does not hold up everything else. */
  #turn(): Promise<unknown> {
    const turn = this.#lastTurn.then(() => new Promise((resolve) => setImmediate(resolve)))
    this.#lastTurn = turn
    return turn
  }

  async #encode(chat: string, content: OutgoingContent): Promise<proto.IMessage> {
    const { clock, gone, socket } = this.#deps
    const context = { chat, ownJid: ownIdentity(socket).jidFor(chat), now: clock.now() }
    const upload = this.#upload
    const message =
      content.type === 'file' ? await encodeFile(content, context, { upload, gone }) : encodeContent(content, context)
    if (content.type === 'reaction') return message
    return { ...message, messageContextInfo: { messageSecret: randomBytes(32) } }
  }
}

function rethrow(cause: unknown): never {
  throw cause instanceof SendError ? cause : notSent(reasonOf(cause), cause)
}

function notSent(reason: string, cause?: unknown): SendError {
  return new SendError('not_sent', `the message was not sent: ${reason}`, { cause })
}

function reasonOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause)
}
