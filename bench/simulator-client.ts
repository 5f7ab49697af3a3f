// A client as light as the protocol allows: it logs in, confirms what it is given and sends what was encrypted before.
import { WebSocket } from 'ws'
import { decodeBinaryNode, encodeBinaryNode, NOISE_WA_HEADER, proto, type BinaryNode } from '../sim/network/library.ts'
import { readPreKey } from '../sim/network/server/companion-device.ts'
import { SeededRandom } from '../sim/network/seeded-random.ts'
import { agreeWithScalar, KeyPair } from '../sim/network/signal/curve.ts'
import { SignalDevice } from '../sim/network/signal/signal-device.ts'
import { formatJid, parseJid, PHONE_SERVER } from '../sim/network/wire/jid.ts'
import { child, children, requiredBytes, stanza } from '../sim/network/wire/stanza.ts'
import { frame } from '../sim/network/wire/frame-reader.ts'
import type { NoiseTransport } from '../sim/network/wire/noise-responder.ts'
import type { SessionKeys } from './simulator-host.ts'
import { NoiseInitiator } from './simulator-noise.ts'

export class LightClient {
  readonly #keys: SessionKeys
  readonly #socket: WebSocket
  readonly #noise: NoiseInitiator
  #transport: NoiseTransport | undefined
  #work: Promise<void> = Promise.resolve()
  readonly #waiting = new Map<string, (node: BinaryNode) => void>()
  readonly #ephemeral: KeyPair
  readonly signal: SignalDevice
  received = 0
  acknowledged = 0
  onAcknowledged: () => void = () => undefined

  constructor(url: string, keys: SessionKeys) {
    this.#keys = keys
    const random = new SeededRandom(`client ${keys.phone}`)
    this.#ephemeral = new KeyPair(random.bytes(32))
    this.signal = new SignalDevice(random)
    this.#noise = new NoiseInitiator(this.#ephemeral)
    this.#socket = new WebSocket(url, { perMessageDeflate: false })
  }

  /** Resolves when the server has handed over all waiting messages. */
  async login(): Promise<void> {
    const ready = new Promise<void>((resolve, reject) => {
      this.#waiting.set('ready', () => {
        resolve()
      })
      this.#socket.on('error', reject)
      this.#socket.on('close', () => {
        reject(new Error(`${this.#keys.phone} was disconnected`))
      })
    })
    // The simulator sends one frame per WebSocket message.
    this.#socket.on('message', (data: Buffer) => {
      this.#work = this.#work.then(() => this.#frame(data.subarray(3)))
    })
    this.#socket.once('open', () => {
      const clientHello = { ephemeral: this.#ephemeral.publicKey }
      const hello = frame(proto.HandshakeMessage.encode({ clientHello }).finish())
      this.#socket.send(Buffer.concat([NOISE_WA_HEADER, hello]))
    })
    await ready
  }

  /** Opens a session with each of these people. */
  async meet(people: readonly string[]): Promise<void> {
    const users = people.map((person) => stanza('user', { jid: jidOf(person) }))
    const key = stanza('key', {}, users)
    const answer = await this.#query(
      stanza('iq', { id: 'keys', xmlns: 'encrypt', type: 'get', to: 's.whatsapp.net' }, [key]),
    )
    for (const bundle of children(child(answer, 'list'), 'user')) {
      const [signed, oneTime] = [child(bundle, 'skey'), child(bundle, 'key')]
      const { user: person } = parseJid(bundle.attrs.jid ?? '')
      if (!signed || !oneTime) throw new Error(`no keys for ${person}`)
      this.signal.openSession(person, {
        registrationId: 1,
        identityKey: requiredBytes(child(bundle, 'identity'), 'identity'),
        signedPreKey: readPreKey(signed),
        preKey: readPreKey(oneTime),
      })
    }
  }

  /** Seals the messages to one person that are sent later. */
  prepare(person: string, count: number): Uint8Array[] {
    return Array.from({ length: count }, (_, index) => {
      const sealed = this.sealFor(person, proto.Message.encode({ conversation: `message ${index}` }).finish())
      const attributes = { id: `${this.#keys.phone}${index}`, to: jidOf(person), type: 'text' }
      return encodeBinaryNode(stanza('message', attributes, [stanza('participants', {}, [sealed])]))
    })
  }

  sealFor(person: string, plain: Uint8Array): BinaryNode {
    const { type, body } = this.signal.encrypt(person, padded(plain))
    return stanza('to', { jid: jidOf(person) }, [stanza('enc', { v: '2', type }, body)])
  }

  send(encoded: Uint8Array): void {
    if (this.#transport) this.#socket.send(frame(this.#transport.seal(encoded)))
  }

  close(): void {
    this.#socket.removeAllListeners('close')
    this.#socket.terminate()
  }

  async #frame(data: Buffer): Promise<void> {
    if (this.#transport) this.#receive(await decodeBinaryNode(this.#transport.open(data)))
    else this.#finishHandshake(data)
  }

  #finishHandshake(data: Buffer): void {
    const { serverHello } = proto.HandshakeMessage.decode(data)
    if (!serverHello?.ephemeral || !serverHello.static || !serverHello.payload) throw new Error('not a hello')
    const { ephemeral, static: staticKey, payload } = serverHello
    const secret = Buffer.from(this.#keys.noisePrivate, 'base64')
    const noiseKey = {
      publicKey: Buffer.from(this.#keys.noisePublic, 'base64'),
      agree: (theirs: Uint8Array) => agreeWithScalar(secret, theirs),
    }
    const login = { username: Number(this.#keys.phone), device: this.#keys.device, passive: true }
    const encoded = proto.ClientPayload.encode(login).finish()
    const { transport, ...clientFinish } = this.#noise.finish(
      { ephemeral, static: staticKey, payload },
      noiseKey,
      encoded,
    )
    this.#socket.send(frame(proto.HandshakeMessage.encode({ clientFinish }).finish()))
    this.#transport = transport
  }

  #receive(node: BinaryNode): void {
    const { tag, attrs } = node
    if (tag === 'success')
      this.#write(stanza('iq', { id: 'active', xmlns: 'passive', type: 'set' }, [stanza('active')]))
    else if (tag === 'ib' && child(node, 'offline')) this.#waiting.get('ready')?.(node)
    else if (tag === 'message') {
      this.received += 1
      this.#write(stanza('receipt', { id: attrs.id, to: attrs.from }))
    } else if (tag === 'ack' && attrs.class === 'message') {
      this.acknowledged += 1
      this.onAcknowledged()
    } else if (tag === 'iq') this.#waiting.get(attrs.id ?? '')?.(node)
  }

  #query(iq: BinaryNode): Promise<BinaryNode> {
    return new Promise((resolve) => {
      this.#waiting.set(iq.attrs.id ?? '', resolve)
      this.#write(iq)
    })
  }

  #write(node: BinaryNode): void {
    this.send(encodeBinaryNode(node))
  }
}

export function jidOf(person: string): string {
  return formatJid(person, PHONE_SERVER)
}

export function padded(plain: Uint8Array): Buffer {
  return Buffer.concat([plain, Buffer.from([1])])
}
