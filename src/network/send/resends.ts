// Sends a message again to the one device that could not open it, in a group together with the group's key.
//
// The library would answer a phone by sending to all devices of the chat. So the service answers the request, while the
// library waits for the message. The error at the end tells the library to do nothing more than to confirm the request.

import type { Jid, NetworkMessageId } from '../../core/ids.ts'
import { BoundedMap } from '../../lib/bounded-map.ts'
import type { Clock } from '../../lib/clock.ts'
import type { DurableRepository } from '../account/durable-signal.ts'
import { mostRenewals } from '../account/sender-key-holders.ts'
import type { SenderKeyHolders } from '../account/sender-key-holders.ts'
import { extractE2ESessionFromRetryReceipt, isJidGroup } from '../library/library.ts'
import type { BinaryNode, proto, WASocket } from '../library/library.ts'
import { childOf } from '../library/nodes.ts'
import { userOf } from './device-directory.ts'
import { encodeMessage, padMessage } from './encode-message.ts'
import { groupAttributes } from './group-rosters.ts'
import type { GroupRosters } from './group-rosters.ts'
import { ownIdentity } from './own-identity.ts'
import { labelsOf } from './stanza-labels.ts'
import { copyOf, deviceIdentity, withGroupKey } from './stanza-sealer.ts'

type Deps = { socket: WASocket; keyHolders: SenderKeyHolders; rosters: GroupRosters; clock: Clock }
/** `asking` is the device that asks. Without a message the service does not know what the device asks for. */
type Request = { chat: Jid; id: NetworkMessageId; asking: Jid; message: proto.IMessage | undefined }
type E2ESession = Parameters<DurableRepository['injectE2ESession']>[0]['session']
type Known = Request & { message: proto.IMessage }

const requestsKept = 1_000
const requestMs = 60_000

export class Resends {
  readonly #deps: Deps
  readonly #receipts: BoundedMap<BinaryNode>

  constructor(deps: Deps) {
    this.#deps = deps
    this.#receipts = new BoundedMap({ clock: deps.clock, max: requestsKept, ttlMs: requestMs })
    deps.socket.ws.on('CB:receipt', (receipt: BinaryNode) => {
      const { type, from = '', participant: asking = from, id = '' } = receipt.attrs
      if (type === 'retry') this.#receipts.set(nameOf({ id, asking }), receipt)
    })
  }

  /** Resolves when the library itself must go on. Rejects when the request has its answer, or cannot get one. */
  async answer(request: Request): Promise<void> {
    const { message } = request
    const receipt = this.#receipts.get(nameOf(request))
    if (!receipt) return
    this.#receipts.delete(nameOf(request))
    if (message) {
      await this.#send({ ...request, message }, receipt)
      throw new Error('the message was sent again')
    }
    if (isJidGroup(request.chat)) await this.#noteAsking(request)
  }

  /**
   * Notes that the device may have the key of the group. False for a device that its owner's list does not name: it must not
   * get the key, because the next message would find a stranger with the key and make a new one for all.
   */
  async #noteAsking({ chat, asking }: Request): Promise<boolean> {
    const { keyHolders, rosters } = this.#deps
    // A former member must not get the present key.
    if (!(await rosters.hasMember(chat, userOf(asking)))) throw new Error('the device belongs to no member')
    if (!(await rosters.hasDevice(chat, asking))) return false
    await keyHolders.giveAgain(chat, asking)
    return true
  }

  /** The old session is not trusted. The request carries the keys for a new one, or the server has them. */
  async #openSession(asking: Jid, receipt: BinaryNode): Promise<void> {
    const { socket } = this.#deps
    const session = extractE2ESessionFromRetryReceipt(receipt)
    // The library declares the one-time prekey as required, but works without it.
    if (session) await this.#repository.injectE2ESession({ jid: asking, session: session as E2ESession })
    else await socket.assertSessions([asking], true)
  }

  /** If the key is renewed again and again, the device gets the message without it, and the key with the next message. */
  async #send(request: Known, receipt: BinaryNode, renewed = 0): Promise<void> {
    const { keyHolders, rosters, socket } = this.#deps
    const { chat, id, asking, message } = request
    const renewals = keyHolders.renewalsOf(chat)
    const isLast = renewed === mostRenewals
    const getsKey = isJidGroup(chat) && (await this.#noteAsking(request)) && !isLast
    await this.#openSession(asking, receipt)
    const own = ownIdentity(socket)
    const mode = isJidGroup(chat) ? groupAttributes(await rosters.metadataOf(chat)).addressing_mode : 'pn'
    const key = { group: chat, sender: own.senderIn(mode), message }
    const whole = getsKey ? await withGroupKey(this.#repository, key) : message
    const isOwn = own.isOwn(userOf(asking))
    const data = padMessage(encodeMessage(isOwn ? copyOf(chat, whole) : whole))
    const [sealed] = await this.#repository.encryptAll([{ jid: asking, data }])
    if (!sealed) throw new Error('there is no session with the device')
    // A member has left meanwhile. If the device is the member's, it must not get the new key.
    if (renewals !== keyHolders.renewalsOf(chat) && !isLast) return this.#send(request, receipt, renewed + 1)
    const { type, edit, sealed: labels } = labelsOf(message)
    const count = childOf(receipt, 'retry')?.attrs['count'] ?? '1'
    const enc = { tag: 'enc', attrs: { v: '2', type: sealed.type, count, ...labels }, content: sealed.ciphertext }
    const attrs = { id, type, ...edit, ...this.#addressOf(request, mode) }
    const identity = sealed.type === 'pkmsg' ? deviceIdentity(socket) : []
    await socket.sendNode({ tag: 'message', attrs, content: [enc, ...identity] })
  }

  #addressOf({ chat, asking }: Request, mode: string): Record<string, string> {
    if (isJidGroup(chat)) return { to: chat, participant: asking, addressing_mode: mode }
    const isOwn = ownIdentity(this.#deps.socket).isOwn(userOf(asking))
    return { to: asking, device_fanout: 'false', ...(isOwn && { recipient: chat }) }
  }

  get #repository(): DurableRepository {
    return this.#deps.socket.signalRepository as DurableRepository
  }
}

function nameOf({ id, asking }: Pick<Request, 'id' | 'asking'>): string {
  return `${id} ${asking}`
}
