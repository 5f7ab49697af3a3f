// Members of a group who could not open a message are sent it again, each alone and with the key.
//
// The library would send it to the whole group again, and to nobody as soon as one member has no keys or is not named. So
// it is told that there is no such message, and only opens the session with the device that asks.

import { BoundedMap } from '../../lib/bounded-map.ts'
import type { Clock } from '../../lib/clock.ts'
import type { DurableRepository } from '../account/durable-signal.ts'
import { encodeWAMessage, isJidGroup, jidDecode } from '../library/library.ts'
import type { BinaryNode, proto, WASocket } from '../library/library.ts'
import { labelsOf } from './stanza-labels.ts'
import { nodesOf } from '../library/nodes.ts'
import { deviceIdentity } from './stanza-sealer.ts'
import { ownIdentity } from './own-identity.ts'
import type { SenderKeyHolders } from '../account/sender-key-holders.ts'

type Deps = { socket: WASocket; memory: SenderKeyHolders; clock: Clock }
/** `asking` is the device. */
type Wanted = { group: string; id: string; asking: string; message: proto.IMessage }

const asksKept = 1_000
const askMs = 60_000

export class GroupResends {
  readonly #socket: WASocket
  /** How often a device has asked for a message, by its own count. */
  readonly #asks: BoundedMap<string>
  /** The library answers one request after the other. */
  #next: (Wanted & { count: string }) | undefined

  constructor({ socket, memory, clock }: Deps) {
    this.#socket = socket
    this.#asks = new BoundedMap({ clock, max: asksKept, ttlMs: askMs })
    socket.ws.on('CB:receipt', (receipt: BinaryNode) => {
      this.#note(receipt)
    })
    // What the library does last, when the session with the device is open.
    memory.onForgotten = (group) => {
      const wanted = this.#next
      if (wanted?.group !== group) return
      this.#next = undefined
      // Who did not get it asks once more.
      this.#send(wanted).catch(() => undefined)
    }
  }

  /** Whether this is a request that is answered here. */
  takes(wanted: Wanted): boolean {
    const count = this.#asks.get(nameOf(wanted))
    this.#asks.delete(nameOf(wanted))
    this.#next = count === undefined ? undefined : { ...wanted, count }
    return count !== undefined
  }

  #note(receipt: BinaryNode): void {
    const { type, from: group = '', participant: asking = '', id = '' } = receipt.attrs
    if (type !== 'retry' || !isJidGroup(group)) return
    const [retry] = nodesOf(receipt, 'retry')
    this.#asks.set(nameOf({ group, id, asking }), retry?.attrs['count'] ?? '1')
  }

  async #send({ group, id, asking, message, count }: Wanted & { count: string }): Promise<void> {
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
    { group, asking, message }: Omit<Wanted, 'id'>,
  ): Promise<proto.IMessage> {
    const own = ownIdentity(this.#socket)
    const byLid = own.senderIn('lid')
    const meId = (await repository.hasSenderKey({ group, meId: byLid })) ? byLid : own.senderIn('pn')
    const key = await repository.getSenderKeyDistributionMessage({ group, meId })
    const distribution = { groupId: group, axolotlSenderKeyDistributionMessage: key }
    const whole = { ...message, senderKeyDistributionMessage: distribution }
    if (!own.isOwn(jidDecode(asking)?.user ?? '')) return whole
    return { deviceSentMessage: { destinationJid: group, message: whole } }
  }
}

function nameOf({ group, id, asking }: Omit<Wanted, 'message'>): string {
  return `${group} ${id} ${asking}`
}
