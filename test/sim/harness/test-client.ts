// The unmodified client library with the address and root key of the simulated network. It records its events.
import './quiet.ts'
import {
  makeWASocket,
  WA_CERT_DETAILS,
  type BaileysEventMap,
  type ConnectionState,
  type UserFacingSocketConfig,
  type WAMessage,
  type WASocket,
} from 'baileys'
import { pino } from 'pino'
import type { SimPhone } from '../../../sim/network/accounts/sim-phone.ts'
import { EventLog } from '../../../sim/event-log.ts'
import type { SimNetwork } from '../../../sim/network/sim-network.ts'
import { memoryAuth, type MemoryAuth } from './memory-auth.ts'

type EventName = keyof BaileysEventMap
type Recorded = { [K in EventName]: { name: K; data: BaileysEventMap[K] } }[EventName]
type NetworkAddress = { url: string; rootKey: Buffer; log?: { areViolationsAllowed: boolean } }
type Ack = { id: string; error?: string }
type Options = Partial<UserFacingSocketConfig>

const logger = pino({ level: 'silent' })
const describe = ({ name, data }: Recorded): string => `${name} ${JSON.stringify(data).slice(0, 300)}`

export class TestClient {
  readonly auth: MemoryAuth
  readonly socket: WASocket
  readonly events = new EventLog<Recorded>('the events of the client', describe)
  readonly acks = new EventLog<Ack>('the acknowledgements of the server', (one) => `${one.id} ${one.error ?? 'taken'}`)
  #closed = false

  constructor(network: NetworkAddress, auth: MemoryAuth = memoryAuth(), options: Options = {}) {
    WA_CERT_DETAILS.PUBLIC_KEY = Buffer.from(network.rootKey)
    this.auth = auth
    if (network.log) network.log.areViolationsAllowed = true
    this.socket = makeWASocket({ auth, waWebSocketUrl: network.url, logger, retryRequestDelayMs: 5, ...options })
    this.socket.ws.on('CB:ack,class:message', ({ attrs }: { attrs: Ack }) => {
      this.acks.add(attrs)
    })
    this.socket.ev.process((events) => {
      for (const [name, data] of Object.entries(events)) {
        if (name === 'creds.update') Object.assign(auth.creds, data)
        if (name === 'connection.update' && (data as Partial<ConnectionState>).connection === 'close') {
          this.#closed = true
        }
        this.events.add({ name, data } as Recorded)
      }
    })
  }

  /** Logs in with ready credentials and waits until the client is online. */
  static async online(network: NetworkAddress, auth: MemoryAuth, options?: Options): Promise<TestClient> {
    const client = new TestClient(network, auth, options)
    await client.connected()
    return client
  }

  static async linked(network: SimNetwork, phone: SimPhone, options?: Options): Promise<TestClient> {
    return TestClient.online(network, memoryAuth(network.linkReady(phone)), options)
  }

  event<K extends EventName>(
    name: K,
    what: string,
    matches: (data: BaileysEventMap[K]) => boolean = () => true,
    timeoutMs?: number,
  ): Promise<BaileysEventMap[K]> {
    return this.eventAfter(0, name, what, matches, timeoutMs)
  }

  async eventAfter<K extends EventName>(
    position: number,
    name: K,
    what: string,
    matches: (data: BaileysEventMap[K]) => boolean = () => true,
    timeoutMs?: number,
  ): Promise<BaileysEventMap[K]> {
    const isIt = (one: Recorded): boolean => one.name === name && matches(one.data as BaileysEventMap[K])
    const found = await this.events.waitAfter(position, `${name}: ${what}`, isIt, timeoutMs)
    return found.data as BaileysEventMap[K]
  }

  async connected(): Promise<void> {
    await this.event('connection.update', 'connection open', (data) => data.connection === 'open')
    await this.event('connection.update', 'pending notifications received', (data) =>
      Boolean(data.receivedPendingNotifications),
    )
  }

  /** The status code the connection ended with. */
  async closedWith(timeoutMs?: number): Promise<number | undefined> {
    const isClose = (data: Partial<ConnectionState>): boolean => data.connection === 'close'
    const update = await this.event('connection.update', 'connection closed', isClose, timeoutMs)
    return (update.lastDisconnect?.error as { output?: { statusCode?: number } } | undefined)?.output?.statusCode
  }

  async qr(): Promise<string> {
    const update = await this.event('connection.update', 'a QR code', (data) => data.qr !== undefined)
    return update.qr ?? ''
  }

  async message(what: string, matches: (message: WAMessage) => boolean, timeoutMs?: number): Promise<WAMessage> {
    const data = await this.event('messages.upsert', what, (upsert) => upsert.messages.some(matches), timeoutMs)
    const found = data.messages.find(matches)
    if (!found) throw new Error('matched and then not found')
    return found
  }

  /** The server's answer to a message: undefined when the server accepted it, or the error code. */
  async acknowledged(id: string | null | undefined): Promise<string | undefined> {
    const ack = await this.acks.waitFor(`the acknowledgement of ${id ?? 'nothing'}`, (one) => one.id === id)
    return ack.error
  }

  textMessage(text: string, timeoutMs?: number): Promise<WAMessage> {
    return this.message(`the text "${text}"`, (one) => textOf(one) === text, timeoutMs)
  }

  messages(): WAMessage[] {
    return this.events.entries.flatMap((one) => (one.name === 'messages.upsert' ? one.data.messages : []))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#closed) return
    await this.socket.end(undefined)
  }
}

export function textOf(message: WAMessage): string | undefined {
  return message.message?.conversation ?? message.message?.extendedTextMessage?.text ?? undefined
}
