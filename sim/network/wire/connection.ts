// The WebSocket of one client: a handshake, then stanzas in order in both directions.
//
// Modes: `handshaking` until the client has sent its login payload; `open` while stanzas flow; `silent` while a fault
// stops reading and writing on an open socket; `closed` for good.
import type { WebSocket } from 'ws'
import { decodeBinaryNode, encodeBinaryNode, proto } from '../library.ts'
import type { SeededRandom } from '../seeded-random.ts'
import { frame, FrameReader } from './frame-reader.ts'
import { NoiseResponder, type NoiseTransport } from './noise-responder.ts'
import type { ShownIdentity } from './server-identity.ts'
import { stanza, type Stanza } from './stanza.ts'
import type { SimClock } from '../../shiftable-clock.ts'

export type LoginPayload = { payload: proto.ClientPayload; noiseKey: Buffer }
export type ConnectionEvents = {
  onLogin(connection: Connection, login: LoginPayload): void
  onStanza(connection: Connection, node: Stanza): void | Promise<void>
  onSent(connection: Connection, node: Stanza): void
  onClosed(connection: Connection): void
  onError(connection: Connection, error: unknown): void
}
type Deps = {
  socket: WebSocket
  identity: ShownIdentity
  random: SeededRandom
  clock: SimClock
  events: ConnectionEvents
}
type Held = { node: Stanza; cancel: () => void }
type Mode = 'handshaking' | 'open' | 'silent' | 'closed'

export class Connection {
  readonly #socket: WebSocket
  readonly #clock: SimClock
  readonly #events: ConnectionEvents
  readonly #noise: NoiseResponder
  readonly #reader = new FrameReader()
  readonly closed: Promise<void>
  #transport: NoiseTransport | undefined
  #mode: Mode = 'handshaking'
  #work: Promise<void> = Promise.resolve()
  readonly #held: Held[] = []
  /** The delay of every stanza to this client, in milliseconds. */
  delayMs = 0

  constructor({ socket, identity, random, clock, events }: Deps) {
    this.#socket = socket
    this.#clock = clock
    this.#events = events
    this.#noise = new NoiseResponder(identity, random)
    this.closed = new Promise((resolve) => {
      socket.once('close', () => {
        this.#mode = 'closed'
        for (const { cancel } of this.#held) cancel()
        events.onClosed(this)
        resolve()
      })
    })
    socket.on('error', (error) => {
      events.onError(this, error)
    })
    socket.on('message', (data) => {
      if (this.#mode === 'silent') return
      for (const one of this.#reader.push(data as Buffer)) this.#enqueue(one)
    })
  }

  get isOpen(): boolean {
    return this.#mode === 'open' || this.#mode === 'silent'
  }

  send(node: Stanza): void {
    if (this.#mode !== 'open') return
    if (this.delayMs > 0 || this.#held.length > 0) this.#hold(node)
    else this.#write(node)
  }

  /** Sends a stream error after the stanzas that are still on their way, and ends the stream. */
  end(error?: Stanza): void {
    this.#release(this.#held.length)
    this.delayMs = 0
    if (error) this.send(error)
    this.send(stanza('xmlstreamend'))
    this.#mode = 'closed'
    this.#socket.close()
  }

  /** Cuts the TCP connection. Stanzas that were read but not yet handled are lost. */
  drop(): void {
    this.#mode = 'closed'
    this.#socket.terminate()
  }

  /** Leaves the socket open but neither reads nor writes. */
  goSilent(): void {
    if (this.#mode === 'open') this.#mode = 'silent'
  }

  #enqueue(data: Buffer): void {
    this.#work = this.#work
      .then(() => this.#receive(data))
      .catch((error: unknown) => {
        this.#events.onError(this, error)
        this.drop()
      })
  }

  async #receive(data: Buffer): Promise<void> {
    if (this.#mode === 'closed') return
    if (this.#transport) {
      await this.#events.onStanza(this, await decodeBinaryNode(this.#transport.open(data)))
      return
    }
    const message = proto.HandshakeMessage.decode(data)
    if (message.clientHello?.ephemeral) {
      const serverHello = this.#noise.hello(message.clientHello.ephemeral)
      this.#socket.send(frame(proto.HandshakeMessage.encode({ serverHello }).finish()))
      return
    }
    const finish = message.clientFinish
    if (!finish?.static || !finish.payload) throw new Error('the handshake message is neither hello nor finish')
    const { clientStatic, payload, transport } = this.#noise.finish({ static: finish.static, payload: finish.payload })
    this.#transport = transport
    this.#mode = 'open'
    this.#events.onLogin(this, { payload: proto.ClientPayload.decode(payload), noiseKey: clientStatic })
  }

  #write(node: Stanza): void {
    if (!this.#transport || this.#socket.readyState !== this.#socket.OPEN) return
    this.#socket.send(frame(this.#transport.seal(encodeBinaryNode(node))))
    this.#events.onSent(this, node)
  }

  /** Delays every stanza by the same time. A stanza never overtakes an earlier one when the delay changes. */
  #hold(node: Stanza): void {
    const cancel = this.#clock.after(this.delayMs, () => {
      this.#release(this.#held.indexOf(held) + 1)
    })
    const held = { node, cancel }
    this.#held.push(held)
  }

  #release(count: number): void {
    for (const { node, cancel } of this.#held.splice(0, count)) {
      cancel()
      if (this.#mode === 'open') this.#write(node)
    }
  }
}
