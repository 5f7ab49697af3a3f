// Builds one connection: the socket, the keys that it may use, and the parts that receive, send and ask.

import { AsyncLocalStorage } from 'node:async_hooks'
import type { InstanceName, Jid, NetworkMessageId, RowId } from '../core/ids.ts'
import type { OutgoingContent } from '../core/network/outgoing-content.ts'
import type { Reception } from '../core/network/reception.ts'
import type { HistoryReception } from '../core/history/past-events.ts'
import type { LabelReception } from '../core/sync/labels.ts'
import type { RealtimeReception } from '../core/realtime.ts'
import type { Clock } from '../lib/clock.ts'
import type { Egress } from '../lib/egress/egress.ts'
import { ignoreRejection } from '../lib/ignore.ts'
import type { Log } from '../lib/log.ts'
import type { JournalStore, UnfinishedStanza } from '../storage/stores/messages/journal-store.ts'
import type { Account } from './account/account.ts'
import { ConnectionKeys } from './account/connection-keys.ts'
import { durableRepository } from './account/durable-signal.ts'
import { historyDaysOf } from './account/history-days.ts'
import { saltChange } from './account/nct-salt.ts'
import { SenderKeyHolders } from './account/sender-key-holders.ts'
import { runIsolated } from './connection/fault-isolation.ts'
import type { FaultOwner } from './connection/fault-isolation.ts'
import { openSocket } from './connection/open-socket.ts'
import { OwnPresence } from './connection/own-presence.ts'
import { farewells } from './connection/session-events.ts'
import { socketConfig } from './connection/socket-config.ts'
import type { Endpoint } from './connection/socket-config.ts'
import { ownPerson } from './decode/own-person.ts'
import type { FileSource } from './files/download.ts'
import { ProfilePictures } from './files/profile-pictures.ts'
import { WhatsappGroups } from './groups/whatsapp-groups.ts'
import { createHistories } from './history/create-histories.ts'
import type { HistoryTurns } from './history/create-histories.ts'
import type { HistoryRequests } from './history/history-requests.ts'
import { AccountLabels } from './labels/account-labels.ts'
import { askForDays } from './library/patches/history-days.ts'
import { hearSalts } from './library/patches/nct-salts.ts'
import { boundRetryMemory } from './library/bounded-retry-memory.ts'
import type { AuthenticationCreds, BinaryNode, WASocket } from './library/library.ts'
import { ServerQueries } from './queries/server-queries.ts'
import { DirectMessages } from './receive/direct-messages.ts'
import { JournalEntries } from './receive/journal-entries.ts'
import { Journal } from './receive/journal.ts'
import { learnTimersFromHistory } from './receive/history-timers.ts'
import { noteMigrationSigns } from './receive/migration-signs.ts'
import { NameListener } from './receive/name-listener.ts'
import { NewIdentities } from './receive/new-identities.ts'
import { acknowledgePassedOver, isPassedOver } from './receive/passed-over.ts'
import { PhoneMessages } from './receive/phone-messages.ts'
import { reportPictureChanges } from './receive/picture-changes.ts'
import { PlainStanzas } from './receive/plain-stanzas.ts'
import { ReceiptStanzas } from './receive/receipt-stanzas.ts'
import { TypingListener } from './receive/typing-listener.ts'
import { createSender } from './send/create-sender.ts'
import type { MessageSender } from './send/message-sender.ts'
import { PrivacyTokens } from './send/privacy-tokens.ts'
import type { VersionInUse } from './version/client-version.ts'

export type ConnectionDeps = {
  account: Account
  creds: AuthenticationCreds
  endpoint: Endpoint
  /** For files that are fetched without a proxy. */
  egress: Pick<Egress, 'open'>
  version: VersionInUse
  clock: Clock
  log: Log
  receiving: Receiving
  /** The session is opened only to be logged out. */
  isLeaving: boolean
  historyTurns: HistoryTurns
  findSent: (messageId: NetworkMessageId) => Promise<OutgoingContent | null>
}

/** Where received events are stored, and which listener is told. */
type Receiving = {
  instance: InstanceName
  store: JournalStore
  reception: Partial<Reception & RealtimeReception & HistoryReception & LabelReception>
  nextId: () => RowId
  isOff: boolean
}

/** The session that the connection belongs to. */
type Owner = FaultOwner & { gone: AbortSignal; onListenerFault: (event: string, fault: unknown) => void }

export type Connection = {
  socket: WASocket
  connectionKeys: ConnectionKeys
  sender: MessageSender
  presence: OwnPresence
  names: NameListener
  queries: ServerQueries
  pictures: ProfilePictures
  groups: WhatsappGroups
  labels: AccountLabels
  phoneMessages: PhoneMessages
  historyRequests: HistoryRequests
  journal: Journal
  /** Runs work where faults are traced to this connection. */
  inside: <Result>(work: () => Result) => Result
}

export function openConnection(deps: ConnectionDeps, owner: Owner): Connection {
  const { account, creds, endpoint, version, clock, log, receiving, isLeaving, findSent } = deps
  const { gone } = owner
  const connectionKeys = new ConnectionKeys({ keys: account.keys, creds })
  const keyHolders = new SenderKeyHolders({ connectionKeys, creds })
  const onPhoneMessage = (message: UnfinishedStanza) => {
    inside(() => {
      phoneMessages.handle(message)
    })
  }
  const lidOf = (phone: Jid) => socket.signalRepository.lidMapping.getLIDForPN(phone)
  const newIdentities = new NewIdentities({ account, connectionKeys, lidOf })
  const parts = { connectionKeys, keyHolders, newIdentities, gone, onPhoneMessage }
  const { journal, storeFirst } = createReceiver(deps, parts)
  const config = socketConfig({
    endpoint,
    version: version.numbers,
    account,
    creds,
    connectionKeys,
    repository: durableRepository({ connectionKeys, identities: account.identities, journal, clock }),
    groupMetadata: (jid) => rosters.remembered(jid),
    sentMessage: (chat, id, asking) => sender.sentMessage(chat, id, asking),
  })
  const storeSalt = (salt: Uint8Array | null) => void connectionKeys.set(saltChange(salt)).catch(ignoreRejection)
  const hooks = {
    isHeard: (event: string) => isHeard(event, isLeaving),
    isWithheld: (event: string, ...args: unknown[]) => isPassedOver(event, args[0] as BinaryNode),
    onFault: owner.onListenerFault,
    beforeListeners: (event: string, ...args: unknown[]): Promise<boolean> | undefined => {
      const stanza = args[0] as BinaryNode
      const ready = storeFirst(event, stanza)
      return event === 'CB:message' ? directMessages.open(stanza, ready) : ready?.then(() => false)
    },
  }
  const open = () => ({ socket: openSocket(config, hooks), inside: AsyncLocalStorage.snapshot() })
  const { socket, inside } = runIsolated(owner, () =>
    hearSalts(storeSalt, () => askForDays(historyDaysOf(creds), open)),
  )
  boundRetryMemory(socket, clock)
  const presence = new OwnPresence({ socket, creds })
  const names = listenBeside(deps, socket)
  const directMessages = new DirectMessages({ socket, journal, names, own: () => ownPerson(creds), gone })
  const labels = new AccountLabels({ ...deps, ...receiving, socket, connectionKeys, gone })
  if (!isLeaving) labels.listen()
  const queries = new ServerQueries({ socket, clock, gone, inside })
  const agent = endpoint.proxied?.agent
  const { histories, requests: historyRequests } = createHistoryParts(deps, { socket, queries, gone })
  const phoneMessages = new PhoneMessages({ socket, account, store: receiving.store, histories, gone, log })
  const { ask } = queries
  const { sender, rosters } = createSender({ socket, account, keyHolders, clock, log, gone, ask, agent, findSent })
  const pictures = createPictures(deps, { socket, queries, gone })
  const groups = new WhatsappGroups({
    queries,
    clock,
    own: () => ownPerson(creds),
    forget: rosters.forget.bind(rosters),
  })
  const asking = { queries, pictures, groups, labels, historyRequests }
  return { socket, connectionKeys, sender, presence, names, ...asking, phoneMessages, journal, inside }
}

/** Listens to what the network tells beside messages. */
function listenBeside({ account, creds, receiving, isLeaving, clock }: ConnectionDeps, socket: WASocket): NameListener {
  const names = new NameListener({ ...receiving, clock }, socket)
  names.listen()
  new TypingListener({ ...receiving, own: () => ownPerson(creds) }).listen(socket)
  learnTimersFromHistory(socket, account)
  noteMigrationSigns(socket, account.addressing)
  if (isLeaving) return names
  acknowledgePassedOver({ ...receiving, socket })
  reportPictureChanges({ ...receiving, socket })
  return names
}

type Asking = { socket: WASocket; queries: ServerQueries; gone: AbortSignal }

function createHistoryParts(deps: ConnectionDeps, { socket, queries, gone }: Asking) {
  const { creds, historyTurns: turns } = deps
  const own = () => ownPerson(creds)
  return createHistories({ ...deps, socket, own, source: fileSource(deps), ask: queries.ask, turns, gone })
}

function fileSource({ endpoint, egress }: ConnectionDeps): FileSource {
  return { egress, agent: endpoint.proxied?.agent, isElsewhere: endpoint.isElsewhere }
}

function createPictures(deps: ConnectionDeps, { socket, queries, gone }: Asking): ProfilePictures {
  const { clock } = deps
  const tokens = new PrivacyTokens(socket)
  const source = fileSource(deps)
  return new ProfilePictures({ queries, tokensFor: (owner) => tokens.forPictureOf(owner), source, clock, gone })
}

/** A session that is leaving confirms nothing. `BacklogDrain` asks for the messages that wait on the server. */
function isHeard(event: string, isLeaving: boolean): boolean {
  if (event === 'CB:ib,,offline_preview') return false
  return !isLeaving || !event.startsWith('CB:') || farewells.has(event)
}

type ReceiverParts = {
  connectionKeys: ConnectionKeys
  keyHolders: SenderKeyHolders
  newIdentities: NewIdentities
  gone: AbortSignal
  onPhoneMessage: (message: UnfinishedStanza) => void
}

function createReceiver(
  { account, creds, clock, receiving }: ConnectionDeps,
  { connectionKeys, keyHolders, newIdentities, gone, onPhoneMessage }: ReceiverParts,
) {
  const { instance, store, reception, nextId, isOff } = receiving
  const own = () => ownPerson(creds)
  const now = () => clock.now()
  const entries = new JournalEntries({
    account,
    connectionKeys,
    instance,
    store,
    reception,
    nextId,
    clock,
    onPhoneMessage,
  })
  const isStorageAway = () => account.keys.isStorageAway
  const reading = { entries, connectionKeys, instance, reception, own, clock }
  const journal = new Journal({ ...reading, isStorageAway, gone, isOff })
  const plainStanzas = new PlainStanzas({ journal, account, keyHolders, newIdentities, instance, reception, own, now })
  const receipts = new ReceiptStanzas({ account, instance, reception, own, now, gone })
  /** Returns a promise if the library must wait. */
  const storeFirst = (event: string, stanza: BinaryNode) =>
    event === 'CB:receipt' ? receipts.report(stanza) : plainStanzas.storeFirst(event, stanza)
  return { journal, storeFirst }
}
