// Makes the library's Signal repository durable: when encrypt or decrypt resolves, the ratchet step is on disk.
//
// The library wraps encrypting and sending in one transaction, which it commits after the frame has left. A crash in between
// would roll the ratchet back. So all keys of the ratchet bypass that transaction. The library's own list of devices that have
// a group's key is not kept: sender-key-holders.ts has a better one. The app state stays in the library's transaction.

import type { Jid } from '../../core/ids.ts'
import type { Clock } from '../../lib/clock.ts'
import { eventLoopShare } from '../../lib/event-loop-share.ts'
import { ignoreRejection } from '../../lib/ignore.ts'
import type { BegunStep, KeyChanges } from './account-keys.ts'
import type { ConnectionKeys } from './connection-keys.ts'
import { decryptGroupInStep, decryptInStep } from './decrypt-in-step.ts'
import type { ToOpen, ToOpenInGroup } from './decrypt-in-step.ts'
import { answerFromMemory, rememberMisses, resolveLid } from './lid-lookups.ts'
import { generateSignalPubKey, stockRepository } from '../library/library.ts'
import type {
  LibraryLogger,
  LidLookup,
  proto,
  SignalAuthState,
  SignalDataSet,
  SignalKeyStoreWithTransaction,
  SignalRepositoryWithLIDStore,
} from '../library/library.ts'
import { changedIdentities, personOfSession } from './identity-changes.ts'
import type { IdentityChanges } from './identity-changes.ts'
import { senderKeyHoldersKind } from './sender-key-holders.ts'
import { sealForDevices } from './seal-for-devices.ts'
import type { DeviceData } from './seal-for-devices.ts'
import type { OwnIdentity } from './session-seal.ts'

/** The kinds of keys that bypass the library's transaction. */
const durableKinds = new Set([
  'session',
  'sender-key',
  'pre-key',
  'identity-key',
  'lid-mapping',
  'device-list',
  'tctoken',
])

/** One ciphertext that is opened inside a Signal step. */
export type Opening = {
  ciphertext: Uint8Array
  decrypt: () => Promise<Uint8Array>
  learnSenderKey: (author: Jid, item: proto.Message.ISenderKeyDistributionMessage) => Promise<void>
}

/** The part of the journal that the Signal steps need. `receive/journal.ts` implements it. */
type OpeningJournal = {
  guard<Result>(ciphertext: Uint8Array, step: () => Promise<Result>): Promise<Result>
  store(opening: Opening): Promise<Uint8Array>
  beforeNewSession(): Promise<void>
}

type Deps = { connectionKeys: ConnectionKeys; identities: IdentityChanges; journal: OpeningJournal; clock: Clock }

export type Sealed = Awaited<ReturnType<SignalRepositoryWithLIDStore['encryptMessage']>>
export type DurableRepository = SignalRepositoryWithLIDStore & {
  /** Encrypts for many devices in one step and one write. Undefined for a device that has no session. */
  encryptAll(items: readonly DeviceData[]): Promise<(Sealed | undefined)[]>
  /**
   * Resolves when the message is open in memory. It must be confirmed only when it is durable. The jid is resolved already. Rejects
   * if there is no session: the library looks first for one under the other address of the person.
   */
  openMessage(options: ToOpen): Promise<BegunStep<unknown>>
  openGroupMessage(options: ToOpenInGroup): Promise<BegunStep<unknown>>
}

export function durableRepository({ connectionKeys, identities, journal, clock }: Deps) {
  return (auth: SignalAuthState, logger: LibraryLogger, lookup: LidLookup): DurableRepository => {
    bypassTransaction(auth.keys as SignalKeyStoreWithTransaction, connectionKeys)
    const inner = {
      get: async (kind: string, ids: readonly string[]) => {
        // The library reads a prekey only for a first message that has no session yet.
        if (kind === 'pre-key') await journal.beforeNewSession()
        return await connectionKeys.account.getInStep(kind, ids)
      },
      // Pairs of phone and LID are learnt inside and outside of steps, so they are never part of one.
      set: async (changes: SignalDataSet) => {
        if ('lid-mapping' in changes) return connectionKeys.set(changes)
        await connectionKeys.setInStep(changes)
        for (const name of changedIdentities(changes)) await identities.noteInStep(personOfSession(name))
      },
      isInTransaction: () => true,
      transaction: <T>(work: () => Promise<T>) => work(),
    }
    const keys = inner as unknown as SignalKeyStoreWithTransaction
    const stock = stockRepository({ creds: auth.creds, keys }, logger, rememberMisses(lookup, clock))
    answerFromMemory(stock, clock)
    const { registrationId, signedIdentityKey } = auth.creds
    const own = { publicKey: generateSignalPubKey(signedIdentityKey.public), registrationId }
    const decrypt = (options: ToOpen, isLeftToLibrary: boolean) =>
      decryptInStep(stock, connectionKeys, { options, isLeftToLibrary, ownIdentity: own.publicKey, clock })
    const decryptInGroup = (options: ToOpenInGroup) => decryptGroupInStep(stock, connectionKeys, options)
    return {
      ...stock,
      ...inSteps(stock, connectionKeys, own),
      ...journalled({ ...stock, decrypt, decryptInGroup }, connectionKeys, journal),
    }
  }
}

/** Replaces the methods of the library's own store object, so that all of the library's code uses them. */
function bypassTransaction(outer: SignalKeyStoreWithTransaction, connectionKeys: ConnectionKeys): void {
  const get = outer.get.bind(outer)
  const set = outer.set.bind(outer)
  outer.get = (async (type, ids) => {
    if (type === senderKeyHoldersKind) return {}
    return durableKinds.has(type) ? connectionKeys.account.get(type, ids) : get(type, ids)
  }) as typeof outer.get
  outer.set = async (changes) => {
    const durable: KeyChanges = {}
    const rest: KeyChanges = {}
    for (const [kind, values] of Object.entries(changes)) {
      if (kind !== senderKeyHoldersKind) (durableKinds.has(kind) ? durable : rest)[kind] = values
    }
    if (Object.keys(durable).length > 0) await connectionKeys.runStep(() => connectionKeys.setInStep(durable))
    if (Object.keys(rest).length > 0) await set(rest)
  }
}

/** Everything that changes records runs as a step in the account's lane. Reads go straight to memory. */
function inSteps(stock: SignalRepositoryWithLIDStore, connectionKeys: ConnectionKeys, own: OwnIdentity) {
  const inStep =
    <Args extends unknown[], Result>(step: (...args: Args) => Promise<Result>) =>
    (...args: Args) =>
      connectionKeys.runStep(() => step(...args))
  const inStepWithLid =
    <Options extends { jid: Jid }, Result>(step: (options: Options) => Promise<Result>) =>
    async (options: Options) => {
      await resolveLid(stock, options.jid)
      return connectionKeys.runStep(() => step(options))
    }
  return {
    encryptAll: (items: readonly DeviceData[]) => sealForDevices({ stock, connectionKeys, own }, items),
    encryptMessage: inStepWithLid((options) => stock.encryptMessage(options)),
    // This is the slowest step, and the first message to a group needs one for every member. A new session is worthless
    // until a message is sealed with it. That seal is stored later and is awaited, so this step need not wait for the disk.
    injectE2ESession: async (options) => {
      await resolveLid(stock, options.jid)
      await eventLoopShare.next()
      return connectionKeys.runStepUnsynced(() => stock.injectE2ESession(options))
    },
    encryptGroupMessage: inStep((options) => stock.encryptGroupMessage(options)),
    processSenderKeyDistributionMessage: inStep((options) => stock.processSenderKeyDistributionMessage(options)),
    getSenderKeyDistributionMessage: inStep((options) => stock.getSenderKeyDistributionMessage(options)),
    deleteSession: inStep((jids) => stock.deleteSession(jids)),
    migrateSession: inStep((from, to) => stock.migrateSession(from, to)),
  } satisfies Partial<DurableRepository>
}

/** Hands every decrypted message to the journal, in the same step. */
function journalled(
  stock: SignalRepositoryWithLIDStore & {
    decrypt: (options: ToOpen, isLeftToLibrary: boolean) => Promise<Uint8Array>
    decryptInGroup: (options: ToOpenInGroup) => Promise<Uint8Array>
  },
  connectionKeys: ConnectionKeys,
  journal: OpeningJournal,
): Pick<DurableRepository, 'decryptMessage' | 'decryptGroupMessage' | 'openMessage' | 'openGroupMessage'> {
  const learnSenderKey: Opening['learnSenderKey'] = (authorJid, item) =>
    stock.processSenderKeyDistributionMessage({ authorJid, item }).catch(ignoreRejection)
  const ofPerson = (options: ToOpen, isLeftToLibrary = false): Opening => {
    return { ciphertext: options.ciphertext, decrypt: () => stock.decrypt(options, isLeftToLibrary), learnSenderKey }
  }
  const ofGroup = (options: ToOpenInGroup): Opening => {
    return { ciphertext: options.msg, decrypt: () => stock.decryptInGroup(options), learnSenderKey }
  }
  const open = (opening: Opening) =>
    journal.guard(opening.ciphertext, () => connectionKeys.runStep(() => journal.store(opening)))
  const begin = (opening: Opening) => connectionKeys.beginStep(() => journal.store(opening))
  return {
    async decryptMessage(options) {
      await resolveLid(stock, options.jid)
      return open(ofPerson(options))
    },
    decryptGroupMessage: (options) => open(ofGroup(options)),
    openMessage: (options) => begin(ofPerson(options, true)),
    openGroupMessage: (options) => begin(ofGroup(options)),
  }
}
