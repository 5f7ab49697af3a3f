// The library's Signal repository on a key store of its own: when encrypt or decrypt resolves, its ratchet step is on disk.
//
// The library wraps encrypting and sending in one transaction that is committed after the frame has left; a crash in
// between would roll the ratchet back. So everything the ratchet needs goes past that transaction, and so does the memory
// of who has a group's key, which waits for the acknowledgement; the app state stays in it, over the same store.

import type { Clock } from '../../lib/clock.ts'
import { BoundedMap } from '../../lib/bounded-map.ts'
import { eventLoopShare } from '../../lib/event-loop-share.ts'
import type { KeyChanges } from './account-keys.ts'
import type { ConnectionKeys } from './connection-keys.ts'
import { stockRepository } from '../library/library.ts'
import type {
  LibraryLogger,
  LidLookup,
  proto,
  SignalAuthState,
  SignalDataSet,
  SignalKeyStoreWithTransaction,
  SignalRepositoryWithLIDStore,
} from '../library/library.ts'
import { senderKeyHoldersKind } from './sender-key-holders.ts'
import type { SenderKeyHolders } from './sender-key-holders.ts'

const ownKinds = new Set(['session', 'sender-key', 'pre-key', 'identity-key', 'lid-mapping', 'device-list', 'tctoken'])

/** The library asks the server again at every load of a session without LID. */
const noLidMs = 60_000
const namesKept = 1_000
const lidMappingMs = 24 * 60 * 60 * 1000
const sealedPerTurn = 8

/** One ciphertext that is being opened inside a Signal step. */
export type Opening = {
  ciphertext: Uint8Array
  decrypt: () => Promise<Uint8Array>
  learnSenderKey: (author: string, item: proto.Message.ISenderKeyDistributionMessage) => Promise<void>
}

/** What the Signal steps need of the journal, which \`receive/journal.ts\` implements. */
type OpeningJournal = {
  guard<Result>(ciphertext: Uint8Array, step: () => Promise<Result>): Promise<Result>
  store(opening: Opening): Promise<Uint8Array>
  beforeNewSession(): Promise<void>
}

type Deps = { connectionKeys: ConnectionKeys; memory: SenderKeyHolders; journal: OpeningJournal; clock: Clock }

export type Sealed = Awaited<ReturnType<SignalRepositoryWithLIDStore['encryptMessage']>>
export type DurableRepository = SignalRepositoryWithLIDStore & {
  /** Encrypts for many devices in one step and one write; undefined where there is no session with the device. */
  encryptAll(items: readonly { jid: string; data: Uint8Array }[]): Promise<(Sealed | undefined)[]>
}

export function durableRepository({ connectionKeys, memory, journal, clock }: Deps) {
  return (auth: SignalAuthState, logger: LibraryLogger, lookup: LidLookup): DurableRepository => {
    passByTransaction(auth.keys as SignalKeyStoreWithTransaction, connectionKeys, memory)
    const inner = {
      get: async (kind: string, ids: readonly string[]) => {
        // Asked for only by a first message that has no session yet.
        if (kind === 'pre-key') await journal.beforeNewSession()
        return connectionKeys.getInStep(kind, ids)
      },
      // Phone and LID pairs are learnt inside and outside of steps and belong to none.
      set: (changes: SignalDataSet) =>
        'lid-mapping' in changes ? connectionKeys.set(changes) : connectionKeys.setInStep(changes),
      isInTransaction: () => true,
      transaction: <T>(work: () => Promise<T>) => work(),
    }
    const keys = inner as unknown as SignalKeyStoreWithTransaction
    const stock = stockRepository({ creds: auth.creds, keys }, logger, rememberMisses(lookup, clock))
    boundMappings(stock, clock)
    return { ...stock, ...inTurn(stock, connectionKeys), ...journalled(stock, connectionKeys, journal) }
  }
}

/** Replaces the methods on the library's own store object, so that all of its callers take the same way. */
function passByTransaction(
  outer: SignalKeyStoreWithTransaction,
  connectionKeys: ConnectionKeys,
  memory: SenderKeyHolders,
): void {
  const get = outer.get.bind(outer)
  const set = outer.set.bind(outer)
  outer.get = ((type, ids) => {
    if (type === senderKeyHoldersKind) return memory.get(ids)
    return ownKinds.has(type) ? connectionKeys.get(type, ids) : get(type, ids)
  }) as typeof outer.get
  outer.set = async (changes) => {
    const own: KeyChanges = {}
    const rest: KeyChanges = {}
    const { [senderKeyHoldersKind]: recipients, ...others } = changes
    for (const [kind, values] of Object.entries(others)) (ownKinds.has(kind) ? own : rest)[kind] = values
    if (recipients) await memory.set(recipients)
    if (Object.keys(own).length > 0) await connectionKeys.runStep(() => connectionKeys.setInStep(own))
    if (Object.keys(rest).length > 0) await set(rest)
  }
}

/** Everything that changes records runs in the account's lane; reads go straight to memory. */
function inTurn(stock: SignalRepositoryWithLIDStore, connectionKeys: ConnectionKeys) {
  const alone =
    <Args extends unknown[], Result>(step: (...args: Args) => Promise<Result>) =>
    (...args: Args) =>
      connectionKeys.runStep(() => step(...args))
  const resolved =
    <Options extends { jid: string }, Result>(step: (options: Options) => Promise<Result>) =>
    async (options: Options) => {
      await resolveLid(stock, options.jid)
      return connectionKeys.runStep(() => step(options))
    }
  return {
    encryptAll: async (items: readonly { jid: string; data: Uint8Array }[]) => {
      for (const { jid } of items) await resolveLid(stock, jid)
      return connectionKeys.runStep(async () => {
        const sealed: (Sealed | undefined)[] = []
        for (const [index, { jid, data }] of items.entries()) {
          if (index > 0 && index % sealedPerTurn === 0) await eventLoopShare.next()
          sealed.push(await stock.encryptMessage({ jid, data }).catch(withoutSession))
        }
        return sealed
      })
    },
    encryptMessage: resolved((options) => stock.encryptMessage(options)),
    // The slowest of all steps, and a group's first message takes one for every member. A session is worth its disk space
    // once something was sealed with it; that is stored after it and waited for.
    injectE2ESession: async (options) => {
      await resolveLid(stock, options.jid)
      await eventLoopShare.next()
      return connectionKeys.runStepUnsynced(() => stock.injectE2ESession(options))
    },
    encryptGroupMessage: alone((options) => stock.encryptGroupMessage(options)),
    processSenderKeyDistributionMessage: alone((options) => stock.processSenderKeyDistributionMessage(options)),
    getSenderKeyDistributionMessage: alone((options) => stock.getSenderKeyDistributionMessage(options)),
    deleteSession: alone((jids) => stock.deleteSession(jids)),
    migrateSession: alone((from, to) => stock.migrateSession(from, to)),
  } satisfies Partial<DurableRepository>
}

function withoutSession(error: unknown): undefined {
  if (error instanceof Error && error.name === 'SessionError') return undefined
  throw error
}

/** What is opened goes to the journal in the same step. */
function journalled(
  stock: SignalRepositoryWithLIDStore,
  connectionKeys: ConnectionKeys,
  journal: OpeningJournal,
): Pick<SignalRepositoryWithLIDStore, 'decryptMessage' | 'decryptGroupMessage'> {
  const learnSenderKey: Opening['learnSenderKey'] = (authorJid, item) =>
    stock.processSenderKeyDistributionMessage({ authorJid, item }).catch(() => undefined)
  const open = (opening: Omit<Opening, 'learnSenderKey'>) =>
    journal.guard(opening.ciphertext, () => connectionKeys.runStep(() => journal.store({ ...opening, learnSenderKey })))
  return {
    async decryptMessage(options) {
      await resolveLid(stock, options.jid)
      return open({ ciphertext: options.ciphertext, decrypt: () => stock.decryptMessage(options) })
    },
    decryptGroupMessage: (options) =>
      open({ ciphertext: options.msg, decrypt: () => stock.decryptGroupMessage(options) }),
  }
}

/** Before the lane, because it may ask the server. */
function resolveLid({ lidMapping }: SignalRepositoryWithLIDStore, jid: string): Promise<string | null> {
  return lidMapping.getLIDForPN(jid).catch(() => null)
}

function rememberMisses(lookup: LidLookup, clock: Clock): LidLookup {
  const withoutLid = new BoundedMap<true>({ clock, max: namesKept, ttlMs: noLidMs })
  return async (pns) => {
    const unknown = pns.filter((pn) => !withoutLid.has(pn))
    const found = unknown.length > 0 ? await lookup(unknown) : []
    for (const pn of unknown) if (!found?.some((pair) => pair.pn === pn)) withoutLid.set(pn, true)
    return found
  }
}

/** The library's own memory of pairs is never trimmed and keeps a timer for each. */
function boundMappings(stock: SignalRepositoryWithLIDStore, clock: Clock): void {
  const mappingCache = new BoundedMap<string>({ clock, max: namesKept, ttlMs: lidMappingMs })
  Object.assign(stock.lidMapping, { mappingCache })
}
