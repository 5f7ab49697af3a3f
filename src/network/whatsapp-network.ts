// WhatsApp behind the network port: opens connections and keeps what belongs to the accounts between them.

import type { Readable } from 'node:stream'
import type { FileRef, SealedEvent } from '../core/message.ts'
import type {
  Network,
  NetworkSession,
  Reception,
  OutgoingContent,
  SessionName,
  SessionSignal,
  UnsealedContent,
  Unsealing,
} from '../core/network.ts'
import { sleep } from '../lib/clock.ts'
import type { Clock } from '../lib/clock.ts'
import { Egress } from '../lib/egress/egress.ts'
import { publicOnly } from '../lib/egress/policy.ts'
import type { Log } from '../lib/log.ts'
import { createRowIds } from '../lib/row-ids.ts'
import type { JournalStore } from '../storage/stores/messages/journal-store.ts'
import type { SessionKeyStore } from '../storage/stores/accounts/session-key-store.ts'
import { Account, jidOf } from './account/account.ts'
import { isolateFaults } from './connection/fault-isolation.ts'
import { downloadFile } from './files/download.ts'
import type { CacheLimits } from './account/key-cache.ts'
import { applyLibraryPatches } from './library/patches/apply.ts'
import { initAuthCreds } from './library/library.ts'
import { prepareEndpoint } from './connection/socket-config.ts'
import type { Endpoint, NetworkSettings } from './connection/socket-config.ts'
import { unseal } from './decode/unseal.ts'
import { WhatsappSession } from './whatsapp-session.ts'

type Deps = {
  keys: Pick<SessionKeyStore, 'load' | 'save' | 'dropSession'>
  journal: JournalStore
  /** Who hears of what arrives. */
  reception?: Partial<Reception>
  /** The epoch of the lease this process holds. */
  epoch: () => number
  clock: Clock
  log: Log
  settings: NetworkSettings
  /** What the service sent under an id: for recipients who ask again after this process has forgotten. */
  findSent?: (instance: string, messageId: string) => Promise<OutgoingContent | null>
  /** How long one QR code is shown. */
  qrLifetimeMs?: number
  /** How much of its keys one account may keep in memory. */
  keyLimits?: CacheLimits
  /** Only for tests: what arrives is stored after the network was told that it did. */
  isJournalOff?: boolean
}

const defaultQrLifetimeMs = 20_000
/** How long storage is waited for that does not take the last writes: what is given up was not confirmed and comes again. */
const lastWritesMs = 5_000
/** The network gives up on what was not received for so long. */
const redeliveredMs = 30 * 24 * 60 * 60 * 1000

const noBooks = () => Promise.resolve(null)

export class WhatsappNetwork implements Network {
  readonly #deps: Deps
  readonly #endpoint: Endpoint
  readonly #fence: Disposable
  readonly #accounts = new Map<string, Account>()
  /** The lease under which a write was refused, because another process has taken it since. */
  #lostEpoch: number | undefined
  #isOver = false
  readonly #nextId: () => string
  readonly #egress: Egress

  constructor(deps: Deps) {
    applyLibraryPatches()
    this.#deps = deps
    this.#nextId = createRowIds(deps.clock)
    this.#egress = new Egress({ policy: publicOnly(), clock: deps.clock })
    this.#endpoint = prepareEndpoint(deps.settings, deps.qrLifetimeMs ?? defaultQrLifetimeMs)
    this.#fence = isolateFaults()
  }

  async open({ sessionId, instance }: SessionName, onSignal: (signal: SessionSignal) => void): Promise<NetworkSession> {
    const known = await this.#account(sessionId)
    await known.connection?.close()
    const stored = await known.loadCreds()
    // A pairing starts with nothing: keys of another identity would only be wrong.
    if (!stored) await this.forget(sessionId)
    const account = stored ? known : await this.#account(sessionId)
    if (account.keys.isClosed) throw closedError()
    const creds = stored ?? initAuthCreds()
    // The owner has this account open by now: a connection from here would throw it out.
    if (this.#deps.epoch() === this.#lostEpoch) throw new Error('another process has taken the accounts over')
    const { clock, log, journal: store, reception = {}, isJournalOff: isOff = false, findSent = noBooks } = this.#deps
    const receiving = { instance, store, reception, nextId: this.#nextId, isOff }
    const session = new WhatsappSession({
      account,
      creds,
      endpoint: this.#endpoint,
      clock,
      log,
      receiving,
      onSignal,
      findSent: (messageId) => findSent(instance, messageId),
    })
    account.connection = session
    return session
  }

  download(file: FileRef, signal: AbortSignal): Promise<Readable> {
    const isElsewhere = this.#deps.settings.url !== null
    return downloadFile(file, { egress: this.#egress, agent: this.#endpoint.proxied?.agent, isElsewhere }, signal)
  }

  unseal(event: SealedEvent, target: Unsealing): UnsealedContent | null {
    return unseal(event, target)
  }

  /** Forgets envelopes that cannot come again; for a daily ticker. */
  async pruneJournal(): Promise<number> {
    const { journal, epoch, clock } = this.#deps
    return journal.prune(epoch(), clock.now() - redeliveredMs)
  }

  async storedJid(sessionId: string): Promise<string | null> {
    const creds = await (await this.#account(sessionId)).loadCreds()
    return creds ? jidOf(creds) : null
  }

  async release(sessionId: string): Promise<void> {
    const account = this.#accounts.get(sessionId)
    await account?.connection?.close()
    if (account) await this.#lastWrites([account])
    await this.#drop(sessionId)
  }

  async forget(sessionId: string): Promise<void> {
    await this.#drop(sessionId)
    await this.#deps.keys.dropSession(this.#deps.epoch(), sessionId)
  }

  /** Connections first, so that nothing is acknowledged that is then given up. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true
    const accounts = [...this.#accounts.values()]
    await Promise.all(accounts.map(async ({ connection }) => connection?.close()))
    await this.#lastWrites(accounts)
    await Promise.all([...this.#accounts.keys()].map((sessionId) => this.#drop(sessionId)))
    await this.#endpoint.proxied?.dispatcher.destroy()
    await this.#egress[Symbol.asyncDispose]()
    this.#fence[Symbol.dispose]()
  }

  async #lastWrites(accounts: readonly Account[]): Promise<void> {
    const patience = new AbortController()
    const written = Promise.all(accounts.map(({ keys }) => keys.settled()))
    await Promise.race([written, sleep(this.#deps.clock, lastWritesMs, patience.signal)])
    patience.abort()
  }

  /** Memory filled under an earlier lease may be out of date: another process may have written since. */
  async #account(sessionId: string): Promise<Account> {
    // Nobody would close it any more: it would ask a closed database for ever.
    if (this.#isOver) throw closedError()
    const epoch = this.#deps.epoch()
    const known = this.#accounts.get(sessionId)
    if (known && known.keys.epoch === epoch && !known.keys.isClosed) return known
    const { keys, clock, log, keyLimits } = this.#deps
    const onFenced = () => {
      this.#lostEpoch = epoch
    }
    const limits = keyLimits && { limits: keyLimits }
    const account = new Account({ keys, sessionId, epoch, clock, log, ...limits, onFenced })
    this.#accounts.set(sessionId, account)
    await known?.[Symbol.asyncDispose]()
    return account
  }

  async #drop(sessionId: string): Promise<void> {
    const account = this.#accounts.get(sessionId)
    this.#accounts.delete(sessionId)
    await account?.[Symbol.asyncDispose]()
  }
}

function closedError(): Error {
  return new Error('the account was closed while it was being opened')
}
