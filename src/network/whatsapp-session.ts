// One connection to the network: the library's events in, the service's signals out.
//
// connecting → until the network says who we are, or offers codes to scan
// open       → authenticated; sends, answers probes
// ending     → the socket is gone; what was written is on its way to storage
// over       → the `closed` signal was given, or close() was called: nothing more is heard of it

import { AsyncLocalStorage } from 'node:async_hooks'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import type { Person } from '../core/address.ts'
import type { FileRef, MessageKey } from '../core/message.ts'
import type {
  Closing,
  GroupInfo,
  NetworkSession,
  OutgoingContent,
  PairingCode,
  SessionSignal,
} from '../core/network.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import { isLinked, jidOf } from './account/account.ts'
import type { Account } from './account/account.ts'
import { askServer } from './queries/ask-server.ts'
import { libraryKey } from './send/encode-content.ts'
import { closingOf, pairingOverClosing, passkeyClosing } from './connection/close-causes.ts'
import { durableRepository } from './account/durable-signal.ts'
import { runIsolated } from './connection/fault-isolation.ts'
import type { FaultOwner } from './connection/fault-isolation.ts'
import type { JournalDeps } from './receive/journal.ts'
import { renewFile } from './files/renewal.ts'
import { askGroupInfo } from './queries/group-info.ts'
import { ConnectionKeys } from './account/connection-keys.ts'
import type { AuthenticationCreds, BinaryNode, ConnectionState, WASocket } from './library/library.ts'
import { boundRetryMemory } from './library/bounded-retry-memory.ts'
import { MessageSender } from './send/message-sender.ts'
import { nodesOf } from './library/nodes.ts'
import { failQueries, delayFrames, openSocket, terminate } from './connection/open-socket.ts'
import { findPerson } from './queries/find-person.ts'
import { Receiver } from './receive/receiver.ts'
import { SenderKeyHolders } from './account/sender-key-holders.ts'
import { SessionSignals } from './connection/session-signals.ts'
import { socketConfig } from './connection/socket-config.ts'
import type { Endpoint } from './connection/socket-config.ts'
import type { Ask } from './queries/user-sync.ts'

type Deps = {
  account: Account
  creds: AuthenticationCreds
  endpoint: Endpoint
  clock: Clock
  log: Log
  receiving: Omit<JournalDeps, 'account' | 'clock'>
  onSignal: (signal: SessionSignal) => void
  findSent: (messageId: string) => Promise<OutgoingContent | null>
}

const server = 's.whatsapp.net'
const pairingOffer = 'CB:iq,type:set,pair-device'
const logoutMs = 10_000
const groupMs = 10_000
const queryMs = 10_000
/** Until the first word of the network. */
const firstFrameTimeoutMs = 20_000
const passkeyRequests = new Set(['passkey_prologue_request', 'crsc_continuation'])
/** Of the list the library keeps and never trims; it only asks whether it is empty. */
const historyMarksKept = 20

export class WhatsappSession implements NetworkSession, FaultOwner {
  readonly #deps: Deps
  readonly #connectionKeys: ConnectionKeys
  readonly #socket: WASocket
  readonly #sender: MessageSender
  readonly #receiving: Receiver
  readonly #inside: <Result>(work: () => Result) => Result
  readonly #gone = new AbortController()
  readonly #signals: SessionSignals
  readonly #cancelDeadline: () => void
  #closing: Closing | undefined
  #ended: Promise<void> = Promise.resolve()
  #codesLeft: number | undefined
  /** When the last code of the offer runs out, which ends the connection. */
  #offerEndsAt = 0
  #wasLinked: boolean
  #authenticated = false
  #drained = false

  constructor(deps: Deps) {
    this.#deps = deps
    const { account, creds, endpoint, clock, log, onSignal } = deps
    this.#signals = new SessionSignals({ onSignal, log: log.child({ session: account.sessionId }) })
    this.#connectionKeys = new ConnectionKeys({ keys: account.keys, creds, sessionIsLinked: () => isLinked(creds) })
    const memory = new SenderKeyHolders(this.#connectionKeys)
    this.#receiving = new Receiver({
      ...deps,
      ...deps.receiving,
      connectionKeys: this.#connectionKeys,
      gone: this.#gone.signal,
    })
    const config = socketConfig({
      endpoint,
      account,
      creds,
      connectionKeys: this.#connectionKeys,
      repository: durableRepository({
        connectionKeys: this.#connectionKeys,
        memory,
        journal: this.#receiving.journal,
        clock,
      }),
      groupMetadata: (jid) => this.#sender.rememberedGroup(jid),
      sentMessage: (chat, id, asking) => this.#sender.sentMessage(chat, id, asking),
    })
    const opened = runIsolated(this, () => ({
      socket: openSocket(config, this.#onListenerFault.bind(this), this.#receiving.gate),
      inside: AsyncLocalStorage.snapshot(),
    }))
    this.#socket = opened.socket
    this.#inside = opened.inside
    boundRetryMemory(this.#socket, clock)
    this.#receiving.attach(this.#socket, this.#inside)
    this.#wasLinked = isLinked(creds)
    this.#sender = new MessageSender({
      socket: this.#socket,
      account,
      memory,
      clock,
      gone: this.#gone.signal,
      ask: this.#askFor,
      agent: endpoint.proxied?.agent,
      findSent: deps.findSent,
    })
    this.#cancelDeadline = clock.after(firstFrameTimeoutMs, () => {
      this.#end({
        cause: 'transient',
        code: 408,
        reason: `the network did not answer within ${firstFrameTimeoutMs / 1000} s`,
      })
    })
    this.#socket.ws.once('frame', this.#cancelDeadline)
    this.#listen()
  }

  async probe(ms: number): Promise<void> {
    await this.#ask({ xmlns: 'w:p', type: 'get' }, { tag: 'ping', attrs: {} }, ms)
  }

  async requestPairingCode(phone: string): Promise<PairingCode> {
    if (this.#wasLinked) throw new Error('this session is linked already')
    if (this.#codesLeft === undefined) {
      await once(this.#socket.ws, pairingOffer, { signal: this.#gone.signal }).catch((cause: unknown) => {
        throw new Error('the connection ended before a code could be asked for', { cause })
      })
    }
    const code = await this.#inside(() => this.#socket.requestPairingCode(phone))
    return { code, expiresAt: this.#offerEndsAt }
  }

  send(chat: string, content: OutgoingContent, messageId: string, released?: Promise<unknown>): Promise<void> {
    return this.#inside(() => this.#sender.send(chat, content, messageId, released))
  }

  newMessageId(): string {
    // In the form of the library, which takes the time and its random bytes through a hash first.
    return `3EB0${randomBytes(9).toString('hex').toUpperCase()}`
  }

  findPerson(phone: string): Promise<Person | null> {
    return findPerson(this.#askFor, phone)
  }

  groupInfo(groupId: string): Promise<GroupInfo> {
    return askGroupInfo(groupId, (to, content) => this.#ask({ xmlns: 'w:g2', type: 'get', to }, content, groupMs))
  }

  markRead(keys: readonly MessageKey[]): Promise<void> {
    return this.#inside(() => this.#socket.readMessages(keys.map(libraryKey)))
  }

  setTyping(chat: string, typing: boolean): Promise<void> {
    return this.#inside(() => this.#socket.sendPresenceUpdate(typing ? 'composing' : 'paused', chat))
  }

  setAvailable(available: boolean): Promise<void> {
    return this.#inside(() => this.#socket.sendPresenceUpdate(available ? 'available' : 'unavailable'))
  }

  requestFileAgain(message: MessageKey, file: FileRef): Promise<FileRef> {
    const { clock, creds } = this.#deps
    const deps = { socket: this.#socket, clock, ownJid: jidOf(creds), gone: this.#gone.signal }
    return this.#inside(() => renewFile(message, file, deps))
  }

  async restrictedUntil(): Promise<number | null> {
    const { isActive, timeEnforcementEnds } = await this.#inside(() => this.#socket.fetchAccountReachoutTimelock())
    const until = timeEnforcementEnds?.getTime() ?? NaN
    return isActive && Number.isFinite(until) ? until : null
  }

  async logout(): Promise<void> {
    const jid = this.#deps.creds.me?.id
    if (jid === undefined) return
    const removal = { tag: 'remove-companion-device', attrs: { jid, reason: 'user_initiated' } }
    const answered = this.#ask({ xmlns: 'md', type: 'set' }, removal, logoutMs)
    await answered.catch((error: unknown) => {
      // The network may hang up instead of answering.
      if (this.#closing?.cause !== 'invalidated') throw error
    })
    this.#end({ cause: 'invalidated', code: 401, reason: 'logged out from here' })
  }

  async close(): Promise<void> {
    this.#signals.close()
    this.#end({ cause: 'transient', code: null, reason: 'closed from here' })
    await this.#ended
  }

  /** Closes at once because of something that happened on this side; the supervisor hears of it. */
  cut(reason: string): void {
    this.#end({ cause: 'transient', code: null, reason })
  }

  onEscaped(fault: unknown): void {
    this.#deps.log.warn({ session: this.#deps.account.sessionId, err: fault }, 'fault contained in its session')
    this.cut('a fault inside this session')
  }

  #listen(): void {
    const { ev, ws } = this.#socket
    ev.on('creds.update', () => {
      const { creds } = this.#deps
      creds.processedHistoryMessages.splice(0, creds.processedHistoryMessages.length - historyMarksKept)
      const saved = this.#connectionKeys.saveCreds()
      saved.catch(() => undefined)
      // The reply that completes a pairing follows: told to the network only when we will remember it.
      if (!this.#wasLinked && isLinked(creds)) delayFrames(this.#socket, saved)
      this.#wasLinked = isLinked(creds)
    })
    ev.on('connection.update', (update) => {
      this.#onUpdate(update)
    })
    ws.on(pairingOffer, (node: BinaryNode) => {
      const [offer] = Array.isArray(node.content) ? node.content : []
      this.#codesLeft = Array.isArray(offer?.content) ? offer.content.length : 0
      const { clock, endpoint } = this.#deps
      this.#offerEndsAt = clock.now() + this.#codesLeft * endpoint.qrLifetimeMs
    })
    // The library would wait for the peer to hang up, half a minute if it does not.
    for (const farewell of ['CB:stream:error', 'CB:failure', 'CB:xmlstreamend']) {
      ws.on(farewell, () => {
        terminate(this.#socket)
      })
    }
    ws.on('CB:notification', ({ attrs }: BinaryNode) => {
      if (passkeyRequests.has(attrs['type'] ?? '')) this.#end(passkeyClosing)
    })
  }

  #onUpdate({
    connection,
    qr,
    isNewLogin,
    receivedPendingNotifications,
    lastDisconnect,
  }: Partial<ConnectionState>): void {
    const { creds, clock } = this.#deps
    if (qr !== undefined) {
      if (this.#codesLeft !== undefined) this.#codesLeft -= 1
      this.#signals.announce({ kind: 'qr', text: qr })
    }
    if (isNewLogin) this.#signals.announce({ kind: 'paired', jid: jidOf(creds) }, this.#connectionKeys.saveCreds())
    if (connection === 'open') {
      this.#authenticated = true
      this.#signals.announce({ kind: 'authenticated', jid: jidOf(creds) })
    }
    if (receivedPendingNotifications) this.#drained = true
    // The backlog may be through before the library considers itself open.
    if (this.#authenticated && this.#drained) this.#announceDrained()
    if (connection === 'close') this.#end(this.#explain(closingOf(lastDisconnect?.error, clock)))
  }

  /** A server that hangs up after the last code means the same as the last code running out. */
  #explain(closing: Closing): Closing {
    if (closing.cause !== 'transient' || closing.code !== null) return closing
    const { creds, endpoint } = this.#deps
    if (this.#codesLeft !== undefined && this.#codesLeft <= 0 && !isLinked(creds)) return pairingOverClosing
    return endpoint.proxied ? { ...closing, reason: `${closing.reason}, through the proxy` } : closing
  }

  #announceDrained(): void {
    this.#drained = false
    this.#authenticated = false
    this.#signals.announce({ kind: 'drained' })
    this.#receiving.resume()
  }

  /** The first reason counts. Nothing leaves any more, then what was written becomes durable, then it is told. */
  #end(closing: Closing): void {
    if (this.#closing) return
    this.#closing = closing
    this.#cancelDeadline()
    const { account } = this.#deps
    terminate(this.#socket)
    this.#connectionKeys.shut()
    this.#gone.abort()
    this.#ended = this.#socket.end(undefined).catch(() => undefined)
    failQueries(this.#socket)
    if (account.connection === this) account.connection = undefined
    this.#signals.announce({ kind: 'closed', closing }, account.keys.settled())
  }

  #onListenerFault(event: string, fault: unknown): void {
    if (this.#closing) return
    const { log, account } = this.#deps
    log.warn({ session: account.sessionId, event: event.split(',')[0], err: fault }, 'network event not handled')
    // A frame that cannot be read: what follows cannot be trusted either.
    if (event === 'message') this.cut('the network sent something unreadable')
  }

  readonly #askFor: Ask = async (attrs, content) => {
    const answer = await this.#ask(attrs, content, queryMs)
    const [error] = answer.attrs['type'] === 'error' ? nodesOf(answer, 'error') : []
    if (error) throw new Error(`the network refused to answer (code ${error.attrs['code'] ?? 'unknown'})`)
    return answer
  }

  #ask(attrs: { xmlns: string; type: string; to?: string }, content: BinaryNode, ms: number): Promise<BinaryNode> {
    const { clock } = this.#deps
    const query = { tag: 'iq', attrs: { to: server, ...attrs }, content: [content] }
    return this.#inside(() => askServer(this.#socket, query, { clock, ms, gone: this.#gone.signal }))
  }
}
