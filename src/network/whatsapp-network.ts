// WhatsApp behind the network port: opens connections and keeps the accounts between them.

import type { Readable } from 'node:stream'
import type { InstanceName, Jid, NetworkMessageId, RowId } from '../core/ids.ts'
import type { FileRef, SealedEvent } from '../core/message.ts'
import { NotHeldError } from '../core/nodes/hold.ts'
import type { Duties } from '../core/nodes/duties.ts'
import type { Hold, HoldOf, NodeHold } from '../core/nodes/hold.ts'
import { proxyHost } from '../core/network-proxy.ts'
import type {
  Network,
  NetworkSession,
  SessionName,
  SessionSignal,
  StoredSession,
  UnsealedContent,
  Unsealing,
} from '../core/network.ts'
import type { Reception } from '../core/network/reception.ts'
import type { OutgoingContent } from '../core/network/outgoing-content.ts'
import type { Unanswered } from '../core/network/closing.ts'
import type { HistoryReception } from '../core/history/past-events.ts'
import type { LabelReception } from '../core/sync/labels.ts'
import type { RealtimeReception } from '../core/realtime.ts'
import { sleep } from '../lib/clock.ts'
import { writeReason } from '../core/reasons/reason.ts'
import type { Clock } from '../lib/clock.ts'
import { Egress } from '../lib/egress/egress.ts'
import { publicOnly } from '../lib/egress/policy.ts'
import type { Log } from '../lib/log.ts'
import { Semaphore } from '../lib/queues/semaphore.ts'
import { createRowIds } from '../lib/row-ids.ts'
import type { ClientVersionStore } from '../storage/stores/accounts/client-version-store.ts'
import type { JournalStore } from '../storage/stores/messages/journal-store.ts'
import type { SessionKeyStore } from '../storage/stores/accounts/session-key-store.ts'
import { Account, jidOf } from './account/account.ts'
import { withHistoryDays } from './account/history-days.ts'
import { retireOldKeys } from './account/retire-old-keys.ts'
import { isolateFaults } from './connection/fault-isolation.ts'
import { downloadFile } from './files/download.ts'
import type { CacheLimits } from './account/key-cache.ts'
import { applyLibraryPatches } from './library/patches/apply.ts'
import { initAuthCreds } from './library/library.ts'
import type { AuthenticationCreds } from './library/library.ts'
import { createProxied, createProxyAgent } from './connection/proxy-agent.ts'
import { prepareEndpoint, wayOf } from './connection/socket-config.ts'
import type { Endpoint, NetworkSettings } from './connection/socket-config.ts'
import { explainUnanswered } from './connection/unreachable.ts'
import { unseal } from './decode/unseal.ts'
import { ClientVersion } from './version/client-version.ts'
import { VersionPage } from './version/version-page.ts'
import { WhatsappSession } from './whatsapp-session.ts'

type Deps = {
  keys: Pick<SessionKeyStore, 'load' | 'save' | 'idsOf' | 'dropSession'>
  journal: JournalStore
  versions: Pick<ClientVersionStore, 'find' | 'save'>
  /** Is told about everything that arrives. */
  reception?: Partial<Reception & RealtimeReception & HistoryReception & LabelReception>
  holdOf: HoldOf
  /** For sessions that no record names any more. */
  nodeHold: () => NodeHold
  /** Without it, this node is the first one. */
  duties?: Pick<Duties, 'isFirst'>
  /** The time of new ids of rows. */
  idClock?: Pick<Clock, 'now'>
  clock: Clock
  log: Log
  settings: NetworkSettings
  /** The content that the service sent under an id, for recipients who ask for it again. */
  findSent?: (instance: InstanceName, messageId: NetworkMessageId) => Promise<OutgoingContent | null>
  /** The own proxy of an instance; null when it has none. Throws for an unknown instance. */
  proxyOf?: (instance: InstanceName) => string | null
  /** How long one QR code is shown. */
  qrLifetimeMs?: number
  /** How many keys of one account are kept in memory. */
  keyLimits?: CacheLimits
  /** While this holds, no session is opened: another process may have them open soon. */
  isCutOff?: () => boolean
  /** Only for tests: messages are stored after they were confirmed to the network. */
  isJournalOff?: boolean
}

const defaultQrLifetimeMs = 20_000
/** How long to wait for the last writes. Writes that are given up were not confirmed, so the network delivers them again. */
const lastWritesMs = 5_000
/** The network stops delivering a message after this time. */
const redeliveredMs = 30 * 24 * 60 * 60 * 1000

const noRecords = () => Promise.resolve(null)

export class WhatsappNetwork implements Network {
  readonly #deps: Deps
  readonly #endpoint: Endpoint
  readonly #faultIsolation: Disposable
  readonly #accounts = new Map<string, Account>()
  /** The accounts among them that had a write refused. */
  readonly #fenced = new Set<Account>()
  #isOver = false
  readonly #nextId: () => RowId
  readonly #egress: Egress
  readonly #historyTurns = { read: new Semaphore(1), spool: new Semaphore(4) }
  readonly #page: VersionPage
  /** The version that connections introduce themselves with. */
  readonly version: ClientVersion

  constructor(deps: Deps) {
    applyLibraryPatches()
    this.#deps = deps
    this.#nextId = createRowIds(deps.idClock ?? deps.clock)
    this.#egress = new Egress({ policy: publicOnly(), clock: deps.clock })
    this.#endpoint = prepareEndpoint(deps.settings, deps.qrLifetimeMs ?? defaultQrLifetimeMs)
    this.#page = this.#createPage()
    const { versions: store, settings, duties = { isFirst: () => true }, clock, log } = deps
    this.version = new ClientVersion({ pinned: settings.version, page: this.#page, store, duties, clock, log })
    this.#faultIsolation = isolateFaults()
  }

  async open(name: SessionName, onSignal: (signal: SessionSignal) => void): Promise<NetworkSession> {
    const { instance, isLeaving = false, networkProxy = null, historyDays = null } = name
    this.#refuseCutOff()
    const known = await this.#account(name)
    await known.connection?.close()
    const version = await this.version.take()
    const stored = await known.loadCreds()
    if (!stored && isLeaving) throw new Error('the keys of this session are not stored any more')
    // A pairing starts without keys, because keys of another identity would be wrong.
    if (!stored) await this.forget(name)
    const account = stored ? known : await this.#account(name)
    if (account.keys.isClosed) throw closedError()
    if (stored) await this.#retireOldKeys(account, stored)
    this.#refuseTaken(name, account)
    const creds = stored ?? withHistoryDays(initAuthCreds(), historyDays)
    const { clock, log, journal: store, reception = {}, isJournalOff: isOff = false, findSent = noRecords } = this.#deps
    const own = networkProxy === null ? undefined : createProxied(networkProxy)
    const receiving = { instance, store, reception, nextId: this.#nextId, isOff }
    const session = new WhatsappSession({
      account,
      creds,
      endpoint: own ? { ...this.#endpoint, proxied: own } : this.#endpoint,
      egress: this.#egress,
      version,
      clock,
      log,
      receiving,
      isLeaving,
      historyTurns: this.#historyTurns,
      onSignal,
      onEnd: () => void own?.dispatcher.destroy(),
      findSent: (messageId) => findSent(instance, messageId),
    })
    account.connection = session
    return session
  }

  async download(instance: InstanceName, file: FileRef, signal: AbortSignal): Promise<Readable> {
    const { settings, proxyOf } = this.#deps
    const own = proxyOf?.(instance) ?? null
    const agent = own === null ? this.#endpoint.proxied?.agent : createProxyAgent(own)
    return downloadFile(file, { egress: this.#egress, agent, isElsewhere: settings.url !== null }, signal)
  }

  /** Null when the network answers. Asks through this proxy, or else through the proxy of the service. Opens no session. */
  async reach(networkProxy: string | null, signal: AbortSignal): Promise<Unanswered | null> {
    try {
      await this.#page.reach(signal, networkProxy === null ? undefined : createProxyAgent(networkProxy))
      return null
    } catch (error) {
      const { isElsewhere, proxyHost: shared } = wayOf(this.#endpoint)
      return explainUnanswered(error, {
        isElsewhere,
        proxyHost: networkProxy === null ? shared : proxyHost(networkProxy),
      })
    }
  }

  unseal(event: SealedEvent, target: Unsealing): UnsealedContent | null {
    return unseal(event, target)
  }

  /** Deletes the fingerprints of messages that the network no longer delivers. A daily ticker calls it. */
  async pruneJournal(): Promise<number> {
    const { journal, nodeHold, clock } = this.#deps
    return journal.prune(nodeHold(), clock.now() - redeliveredMs)
  }

  async storedJid(session: StoredSession): Promise<Jid | null> {
    const creds = await (await this.#account(session)).loadCreds()
    return creds ? jidOf(creds) : null
  }

  async release(sessionId: string): Promise<void> {
    const account = this.#accounts.get(sessionId)
    await account?.connection?.close()
    if (account) await this.#waitForWrites([account])
    await this.#drop(sessionId)
  }

  async forget(session: StoredSession): Promise<void> {
    await this.#drop(session.sessionId)
    await this.#deps.keys.dropSession(this.#holdOf(session), session.sessionId)
  }

  /** Connections close first, so that no message is confirmed whose write is then given up. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true
    await this.version[Symbol.asyncDispose]()
    const accounts = [...this.#accounts.values()]
    await Promise.all(accounts.map(async ({ connection }) => connection?.close()))
    await this.#waitForWrites(accounts)
    await Promise.all([...this.#accounts.keys()].map((sessionId) => this.#drop(sessionId)))
    await this.#endpoint.proxied?.dispatcher.destroy()
    await this.#egress[Symbol.asyncDispose]()
    this.#faultIsolation[Symbol.dispose]()
  }

  async #retireOldKeys({ keys, sessionId }: Account, creds: AuthenticationCreds): Promise<void> {
    const { keys: store, clock } = this.#deps
    await retireOldKeys({ keys, store, sessionId, now: clock.now() }, creds)
  }

  #createPage(): VersionPage {
    const { settings, clock } = this.#deps
    const agent = this.#endpoint.proxied?.agent
    return new VersionPage({ url: settings.url, egress: this.#egress, agent, clock })
  }

  async #waitForWrites(accounts: readonly Account[]): Promise<void> {
    const timer = new AbortController()
    const written = Promise.all(accounts.map(({ keys }) => keys.settled()))
    await Promise.race([written, sleep(this.#deps.clock, lastWritesMs, timer.signal)])
    timer.abort()
  }

  #refuseCutOff(): void {
    if (this.#deps.isCutOff?.()) throw new Error(writeReason('nodeCutOff'))
  }

  /** Storage may have taken any time since the opening began. */
  #refuseTaken(session: StoredSession, { keys }: Account): void {
    this.#refuseCutOff()
    if (!isSame(this.#holdOf(session), keys.hold)) throw new NotHeldError(session.instance)
    this.#refuseLost(keys.hold, session.instance)
  }

  /**
   * A write under this hold was refused: another process has the account open by now, and a connection from here would end that
   * one. Accounts with other holds go on.
   */
  #refuseLost(hold: NodeHold, instance: InstanceName): void {
    if (this.#fenced.values().some(({ keys }) => isSame(keys.hold, hold))) throw new NotHeldError(instance)
  }

  /** The instance of a session that is leaving may be deleted, or another process may hold it. */
  #holdOf({ instance, isLeaving = false }: StoredSession): Hold | NodeHold {
    return isLeaving ? this.#deps.nodeHold() : this.#deps.holdOf(instance)
  }

  /** Keys that were read under an earlier hold may be out of date, so they are read again. */
  async #account(session: StoredSession): Promise<Account> {
    // A new account would never be closed, and would ask a closed database for ever.
    if (this.#isOver) throw closedError()
    const { sessionId, instance } = session
    const hold = this.#holdOf(session)
    const known = this.#accounts.get(sessionId)
    this.#refuseLost(hold, instance)
    if (known && isSame(known.keys.hold, hold) && !known.keys.isClosed) return known
    const { keys, clock, log, keyLimits } = this.#deps
    const limits = keyLimits && { limits: keyLimits }
    const account = new Account({ keys, sessionId, hold, clock, log, onFenced: this.#onFenced.bind(this), ...limits })
    this.#accounts.set(sessionId, account)
    if (known) this.#fenced.delete(known)
    await known?.[Symbol.asyncDispose]()
    return account
  }

  /** An account that was replaced or dropped may hear of its last write later. */
  #onFenced(account: Account): void {
    if (this.#accounts.get(account.sessionId) === account) this.#fenced.add(account)
  }

  async #drop(sessionId: string): Promise<void> {
    const account = this.#accounts.get(sessionId)
    this.#accounts.delete(sessionId)
    if (account) this.#fenced.delete(account)
    await account?.[Symbol.asyncDispose]()
  }
}

function isSame(one: NodeHold, other: NodeHold): boolean {
  return one.node === other.node && one.epoch === other.epoch
}

function closedError(): Error {
  return new Error('the account was closed while it was being opened')
}
