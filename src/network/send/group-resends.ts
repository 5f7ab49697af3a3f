// Sends a group message again to a device that could not open it, together with the group's key.
//
// The library would send the message to the whole group again, and would fail if one member has no keys. So the library is
// told that there is no such message. It then only opens the session with the device that asks.

import type { Jid, NetworkMessageId } from '../../core/ids.ts'
import { BoundedMap } from '../../lib/bounded-map.ts'
import type { Clock } from '../../lib/clock.ts'
import { ignoreRejection } from '../../lib/ignore.ts'
import type { DurableRepository } from '../account/durable-signal.ts'
import { encodeWAMessage, isJidGroup } from '../library/library.ts'
import type { BinaryNode, proto, WASocket } from '../library/library.ts'
import { userOf } from './device-directory.ts'
import { labelsOf } from './stanza-labels.ts'
import { childOf } from '../library/nodes.ts'
import { deviceIdentity } from './stanza-sealer.ts'
import { ownIdentity } from './own-identity.ts'
import type { SenderKeyHolders } from '../account/sender-key-holders.ts'

type Deps = { socket: WASocket; keyHolders: SenderKeyHolders; clock: Clock }
/** `asking` is the device that asks. */
type Request = { group: Jid; id: NetworkMessageId; asking: Jid; message: proto.IMessage }

const requestsKept = 1_000
const requestMs = 60_000

export class GroupResends {
  readonly #socket: WASocket
  /** How often a device has asked for a message, as the device counts. */
  readonly #counts: BoundedMap<string>
  /** The request that is answered next. The library handles one request after the other. */
  #next: (Request & { count: string }) | undefined

  constructor({ socket, keyHolders, clock }: Deps) {
    this.#socket = socket
    this.#counts = new BoundedMap({ clock, max: requestsKept, ttlMs: requestMs })
    socket.ws.on('CB:receipt', (receipt: BinaryNode) => {
      this.#note(receipt)
    })
    // This is the last thing that the library does, when the session with the device is open.
    keyHolders.onForgotten = (group) => {
      const request = this.#next
      if (request?.group !== group) return
      this.#next = undefined
      // If this fails, the device asks once more.
      this.#send(request).catch(ignoreRejection)
    }
  }

  /** Takes the request over from the library. False when it is not a request from a group. */
  takes(request: Request): boolean {
    const count = this.#counts.get(nameOf(request))
    this.#counts.delete(nameOf(request))
    this.#next = count === undefined ? undefined : { ...request, count }
    return count !== undefined
  }

  #note(receipt: BinaryNode): void {
    const { type, from: group = '', participant: asking = '', id = '' } = receipt.attrs
    if (type !== 'retry' || !isJidGroup(group)) return
    const retry = childOf(receipt, 'retry')
    this.#counts.set(nameOf({ group, id, asking }), retry?.attrs['count'] ?? '1')
  }

  async #send({ group, id, asking, message, count }: Request & { count: string }): Promise<void> {
    const repository = this.#socket.signalRepository as DurableRepository
    const data = encodeWAMessage(await this.#withKey(repository, { group, asking, message }))
    const [sealed] = await repository.encryptAll([{ jid: asking, data }])
    if (!sealed) return
    const { type, sealed: labels } = labelsOf(message)
    const enc = { tag: 'enc', attrs: { v: '2', type: sealed.type, count, ...labels }, content: sealed.ciphertext }
    const attrs = { id, to: group, participant: asking, type }
    await this.#socket.sendNode({ tag: 'message', attrs, content: [enc, ...deviceIdentity(this.#socket)] })
  }

  async #withKey(
    repository: DurableRepository,
    { group, asking, message }: Omit<Request, 'id'>,
  ): Promise<proto.IMessage> {
    const own = ownIdentity(this.#socket)
    const byLid = own.senderIn('lid')
    const meId = (await repository.hasSenderKey({ group, meId: byLid })) ? byLid : own.senderIn('pn')
    const key = await repository.getSenderKeyDistributionMessage({ group, meId })
    const distribution = { groupId: group, axolotlSenderKeyDistributionMessage: key }
    const whole = { ...message, senderKeyDistributionMessage: distribution }
    if (!own.isOwn(userOf(asking))) return whole
    return { deviceSentMessage: { destinationJid: group, message: whole } }
  }
}

function nameOf({ group, id, asking }: Omit<Request, 'message'>): string {
  return `${group} ${id} ${asking}`
}
