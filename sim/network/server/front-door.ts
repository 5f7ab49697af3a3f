// Accepts WebSocket connections, logs known devices in and passes new ones to the pairing desk.
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { WebSocketServer } from 'ws'
import { failureNode, type Faults } from '../faults.ts'
import type { SeededRandom } from '../seeded-random.ts'
import { Connection, type LoginPayload } from '../wire/connection.ts'
import type { ServerIdentity, ShownIdentity } from '../wire/server-identity.ts'
import { stanza, type Stanza } from '../wire/stanza.ts'
import type { ClientVersions } from './client-versions.ts'
import { CompanionDevice } from './companion-device.ts'
import type { Directory } from './directory.ts'
import { welcome } from './session-answers.ts'
import type { StanzaLog } from './stanza-log.ts'
import type { SimClock } from '../../shiftable-clock.ts'

type Deps = {
  identity: ServerIdentity
  random: SeededRandom
  directory: Directory
  versions: ClientVersions
  faults: Faults
  log: StanzaLog
  clock: SimClock
  pairing: {
    open: (connection: Connection, login: LoginPayload) => void
    receive: (connection: Connection, node: Stanza) => void
    close: (connection: Connection) => void
  }
  onStanza: (device: CompanionDevice, node: Stanza) => void
  onOffline: (device: CompanionDevice) => void
}

export class FrontDoor {
  readonly #deps: Deps
  readonly #connections = new Map<Connection, CompanionDevice | undefined>()
  #server: Server | undefined
  port = 0
  /** Login attempts of devices. Refused attempts count. */
  logins = 0

  constructor(deps: Deps) {
    this.#deps = deps
  }

  get url(): string {
    return `ws://127.0.0.1:${this.port}/ws/chat`
  }

  async open(port: number): Promise<void> {
    const { versions } = this.#deps
    const server = createServer(versions.answer.bind(versions))
    this.#server = server
    new WebSocketServer({ server, perMessageDeflate: false }).on('connection', (socket) => {
      const { random, clock } = this.#deps
      const connection = new Connection({
        socket,
        identity: this.#shownIdentity(),
        random,
        clock,
        events: {
          onLogin: this.#login.bind(this),
          onStanza: this.#stanza.bind(this),
          onSent: (one, node) => {
            this.#deps.log.record('out', this.#connections.get(one)?.user.phone, node)
          },
          onClosed: this.#closed.bind(this),
          onError: (_, error) => {
            // A client may hang up in the middle of a frame. A frame that the server cannot read is a problem.
            if (!isHangUp(error)) this.#deps.log.complain(`a connection failed: ${String(error)}`)
          },
        },
      })
      this.#connections.set(connection, undefined)
    })
    server.listen({ host: '127.0.0.1', port, backlog: 2048 })
    await once(server, 'listening')
    this.port = (server.address() as AddressInfo).port
  }

  /** Drops every socket and stops listening, as a dying process does. */
  async close(): Promise<void> {
    const server = this.#server
    if (!server) return
    this.#server = undefined
    const closed = [...this.#connections.keys()].map((connection) => connection.closed)
    for (const connection of this.#connections.keys()) connection.drop()
    await Promise.all(closed)
    await new Promise<void>((resolve) => {
      server.close(() => {
        resolve()
      })
      server.closeAllConnections()
    })
  }

  /** The fault strikes before the server knows the account. */
  #shownIdentity(): ShownIdentity {
    const { faults, identity, random } = this.#deps
    return faults.strike('foreign_certificate', '') ? identity.impersonated(random) : identity
  }

  #login(connection: Connection, login: LoginPayload): void {
    const { faults, directory, pairing, versions } = this.#deps
    const { username, device: deviceId, devicePairingData } = login.payload
    if (!devicePairingData) this.logins += 1
    if (!versions.accepts(login.payload)) {
      connection.send(failureNode({ code: 405 }))
      connection.end()
      return
    }
    if (devicePairingData) {
      pairing.open(connection, login)
      return
    }
    const phone = String(username)
    const failure = faults.strike('login_failure', phone)
    if (failure) {
      connection.send(failureNode(failure))
      connection.end()
      return
    }
    const device = directory.find(phone)?.devices.get(deviceId ?? 0)
    if (!(device instanceof CompanionDevice) || !device.keys.noiseKey.equals(login.noiseKey)) {
      connection.send(failureNode({ code: 401 }))
      connection.end()
      return
    }
    this.#admit(connection, device)
  }

  #admit(connection: Connection, device: CompanionDevice): void {
    const earlier = device.connection
    this.#connections.set(connection, device)
    device.admit(connection)
    earlier?.end(stanza('stream:error', {}, [stanza('conflict', { type: 'replaced' })]))
    connection.delayMs = this.#deps.faults.delayFor(device.user.phone)
    const { random, clock } = this.#deps
    for (const node of welcome(device, random.bytes(6), clock)) connection.send(node)
  }

  #stanza(connection: Connection, node: Stanza): void {
    const device = this.#connections.get(connection)
    this.#deps.log.record('in', device?.user.phone, node)
    if (!device) this.#deps.pairing.receive(connection, node)
    // A replaced or unlinked connection has no effect any more.
    else if (device.connection !== connection) return
    else if (this.#deps.faults.dropsOn(device.user.phone, node.tag)) connection.drop()
    else this.#deps.onStanza(device, node)
  }

  #closed(connection: Connection): void {
    const device = this.#connections.get(connection)
    this.#connections.delete(connection)
    this.#deps.pairing.close(connection)
    if (device?.connection !== connection) return
    device.connection = undefined
    device.live = false
    this.#deps.onOffline(device)
  }
}

function isHangUp(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return code === 'ECONNRESET' || code === 'EPIPE'
}
