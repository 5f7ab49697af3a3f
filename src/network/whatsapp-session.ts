// One connection to the network, as the service uses it. Its phases are in connection/session-phase.ts.

import type { Chat, Person } from '../core/address.ts'
import type { GroupAdministration } from '../core/group-administration.ts'
import type { Anchor } from '../core/history/past-events.ts'
import type { Jid, NetworkMessageId } from '../core/ids.ts'
import type { NetworkLabels } from '../core/sync/labels.ts'
import type { FileRef, MessageKey } from '../core/message.ts'
import { writeReason } from '../core/reasons/reason.ts'
import type {
  GroupInfo,
  NetworkRestriction,
  NetworkSession,
  PairingCode,
  SendOptions,
  Sent,
  SessionSignal,
} from '../core/network.ts'
import type { Closing } from '../core/network/closing.ts'
import type { OutgoingContent } from '../core/network/outgoing-content.ts'
import type { NoPicture, ProfilePicture } from '../core/realtime.ts'
import { ignoreRejection } from '../lib/ignore.ts'
import { createRandomDigits } from '../lib/random/random-digits.ts'
import { isLinked, jidOf } from './account/account.ts'
import {
  closingOf,
  explained,
  refusedVersionClosing,
  unansweredClosing,
  versionRefused,
} from './connection/close-causes.ts'
import type { FaultOwner } from './connection/fault-isolation.ts'
import { failQueries, terminate } from './connection/open-socket.ts'
import { PairingOffer } from './connection/pairing-offer.ts'
import { saveCredsOnUpdate } from './connection/save-creds.ts'
import { SessionEvents } from './connection/session-events.ts'
import { SessionPhase } from './connection/session-phase.ts'
import { SessionSignals } from './connection/session-signals.ts'
import { wayOf } from './connection/socket-config.ts'
import { renewFile } from './files/renewal.ts'
import { continueAfterBacklog, followLogin } from './follow-login.ts'
import { openConnection } from './open-connection.ts'
import type { Connection, ConnectionDeps } from './open-connection.ts'
import { labelsInside } from './labels/labels-inside.ts'
import { findPerson } from './queries/find-person.ts'
import { askGroupInfo } from './queries/group-info.ts'
import { libraryKey } from './send/encode-content.ts'
import { rejectCall } from './send/reject-call.ts'

type Deps = ConnectionDeps & {
  onSignal: (signal: SessionSignal) => void
  /** Called when the connection ends. */
  onEnd: () => void
}

/** How long the network may stay silent after the socket was opened. */
const firstFrameTimeoutMs = 20_000
const newIdDigits = createRandomDigits(18)

export class WhatsappSession implements NetworkSession, FaultOwner {
  readonly #deps: Deps
  readonly #connection: Connection
  readonly #phase = new SessionPhase()
  readonly #signals: SessionSignals
  readonly #offer: PairingOffer
  /** Aborted when the connection ends. */
  readonly #gone = new AbortController()
  readonly #cancelDeadline: () => void
  /** Set in the phase `ended`. */
  #closing: Closing | undefined
  #socketEnded: Promise<void> = Promise.resolve()
  readonly #labels: NetworkLabels

  constructor(deps: Deps) {
    this.#deps = deps
    const { account, creds, endpoint, version, clock, log, onSignal } = deps
    this.#signals = new SessionSignals({ onSignal, log: log.child({ session: account.sessionId }) })
    this.#connection = openConnection(deps, {
      gone: this.#gone.signal,
      onEscaped: this.onEscaped.bind(this),
      onListenerFault: this.#onListenerFault.bind(this),
    })
    const { socket, connectionKeys, labels, inside } = this.#connection
    this.#labels = labelsInside(labels, inside)
    this.#offer = new PairingOffer({ socket, clock, qrLifetimeMs: endpoint.qrLifetimeMs })
    this.#cancelDeadline = clock.after(firstFrameTimeoutMs, () => {
      this.#end(unansweredClosing(firstFrameTimeoutMs / 1000, wayOf(endpoint)))
    })
    socket.ws.once('frame', this.#cancelDeadline)
    socket.ws.once('CB:success', () => {
      version.worked()
    })
    saveCredsOnUpdate(socket, creds, connectionKeys)
    this.#listen()
  }

  async probe(ms: number): Promise<void> {
    await this.#connection.queries.query({ xmlns: 'w:p', type: 'get' }, { tag: 'ping', attrs: {} }, ms)
  }

  async requestPairingCode(phone: string): Promise<PairingCode> {
    if (isLinked(this.#deps.creds)) throw new Error('this session is linked already')
    await this.#offer.arrived(this.#gone.signal)
    const { socket, inside } = this.#connection
    const code = await inside(() => socket.requestPairingCode(phone))
    return { code, expiresAt: this.#offer.endsAt }
  }

  send(address: Jid, content: OutgoingContent, id: NetworkMessageId, options: SendOptions = {}): Promise<Sent> {
    const { sender, inside } = this.#connection
    return inside(() => sender.send(address, content, id, options))
  }

  newMessageId(): NetworkMessageId {
    // The same form as the library's ids, which are made of a hash of the time and random bytes.
    return `3EB0${newIdDigits().toUpperCase()}`
  }

  async findPerson(phone: string): Promise<Person | null> {
    const { queries, sender, inside } = this.#connection
    const person = await findPerson(queries.ask, phone)
    if (person) await inside(() => sender.noteAddresses(person))
    return person
  }

  groupInfo(groupId: string): Promise<GroupInfo> {
    const { queries } = this.#connection
    return askGroupInfo(groupId, (to, content) => queries.query({ xmlns: 'w:g2', type: 'get', to }, content))
  }

  profilePicture(owner: Chat): Promise<ProfilePicture | NoPicture> {
    const { pictures, inside } = this.#connection
    return inside(() => pictures.find(owner))
  }

  get groups(): GroupAdministration {
    return this.#connection.groups
  }

  async rejectCall(callId: NetworkMessageId, caller: Jid): Promise<boolean> {
    const { account, creds, clock } = this.#deps
    const { socket, inside } = this.#connection
    if (account.calls.get(callId)?.isOver !== false) return false
    const call = { callId, caller, own: jidOf(creds) }
    await inside(() => rejectCall(call, { socket, clock, gone: this.#gone.signal }))
    return true
  }

  get labels(): NetworkLabels {
    return this.#labels
  }

  markRead(keys: readonly MessageKey[]): Promise<void> {
    const { socket, inside } = this.#connection
    return inside(() => socket.readMessages(keys.map(libraryKey)))
  }

  setTyping(address: Jid, typing: boolean): Promise<void> {
    const { presence, inside } = this.#connection
    return inside(() => presence.setTyping(address, typing))
  }

  subscribeToPresence(address: Jid): Promise<void> {
    const { socket, inside } = this.#connection
    return inside(() => socket.presenceSubscribe(address))
  }

  setAvailable(available: boolean): Promise<void> {
    const { presence, inside } = this.#connection
    return inside(() => presence.setAvailable(available))
  }

  requestFileAgain(message: MessageKey, file: FileRef): Promise<FileRef> {
    const { clock, creds } = this.#deps
    const { socket, inside } = this.#connection
    return inside(() => renewFile(message, file, { socket, clock, ownJid: jidOf(creds), gone: this.#gone.signal }))
  }

  requestHistory(before: Anchor, count: number, signal: AbortSignal): Promise<{ seen: number }> {
    const { historyRequests, inside } = this.#connection
    return inside(() => historyRequests.ask(before, count, signal))
  }

  async restriction(): Promise<NetworkRestriction> {
    const { socket, inside } = this.#connection
    const { isActive, timeEnforcementEnds } = await inside(() => socket.fetchAccountReachoutTimelock())
    const until = timeEnforcementEnds?.getTime() ?? NaN
    return { isActive: isActive === true, until: isActive && Number.isFinite(until) ? until : null }
  }

  async logout(): Promise<void> {
    const jid = this.#deps.creds.me?.id
    if (jid === undefined) return
    const removal = { tag: 'remove-companion-device', attrs: { jid, reason: 'user_initiated' } }
    const answered = this.#connection.queries.query({ xmlns: 'md', type: 'set' }, removal)
    await answered.catch((error: unknown) => {
      // The network may hang up instead of answering.
      if (this.#closing?.cause !== 'invalidated') throw error
    })
    this.#end({ cause: 'invalidated', code: 401, reason: writeReason('loggedOutHere') })
  }

  async close(): Promise<void> {
    this.#signals.close()
    this.#end({ cause: 'transient', code: null, reason: 'closed from here' })
    await this.#socketEnded
  }

  /** Closes at once because of an event on our side. The supervisor gets the `closed` signal. */
  cut(reason: string): void {
    this.#end({ cause: 'transient', code: null, reason })
  }

  onEscaped(fault: unknown): void {
    this.#deps.log.warn({ session: this.#deps.account.sessionId, err: fault }, 'fault contained in its session')
    this.cut('a fault inside this session')
  }

  #listen(): void {
    const { creds, endpoint, clock } = this.#deps
    const { socket, connectionKeys } = this.#connection
    const events = new SessionEvents({
      socket,
      creds,
      connectionKeys,
      signals: this.#signals,
      phase: this.#phase,
      offer: this.#offer,
      onClosed: (error) => {
        const isOfferUsedUp = this.#offer.isUsedUp && !isLinked(creds)
        this.#end(explained(closingOf(error, clock), { isOfferUsedUp, ...wayOf(endpoint) }))
      },
      end: this.#end.bind(this),
      onDrained: () => {
        continueAfterBacklog(this.#connection)
      },
    })
    events.listen()
    followLogin(events, this.#connection, { ...this.#deps, gone: this.#gone.signal })
  }

  /** Only the first reason counts. First nothing leaves any more, then the last writes are stored, then `closed` is given. */
  #end(closing: Closing): void {
    if (!this.#phase.move('end')) return
    this.#closing = closing
    this.#cancelDeadline()
    this.#deps.onEnd()
    const { account } = this.#deps
    const { socket, connectionKeys } = this.#connection
    terminate(socket)
    connectionKeys.close()
    this.#gone.abort()
    this.#socketEnded = socket.end(undefined).catch(ignoreRejection)
    failQueries(socket)
    if (account.connection === this) account.connection = undefined
    this.#signals.announce(this.#closedSignal(closing), { after: account.keys.settled() })
  }

  /** After a refused version the signal waits until it is known whether another version can be tried. */
  async #closedSignal(closing: Closing): Promise<SessionSignal> {
    if (closing.code !== versionRefused) return { kind: 'closed', closing }
    const { version, endpoint } = this.#deps
    return { kind: 'closed', closing: refusedVersionClosing(await version.refused(endpoint.proxied?.agent)) }
  }

  #onListenerFault(event: string, fault: unknown): void {
    if (this.#phase.current === 'ended') return
    const { log, account } = this.#deps
    log.warn({ session: account.sessionId, event: event.split(',')[0], err: fault }, 'network event not handled')
    // The frame cannot be read, so the frames after it cannot be trusted either.
    if (event === 'message') this.cut('the network sent something unreadable')
  }
}
