// How every connection of the library is set up.

import type { Agent } from 'node:https'
import { readFileSync } from 'node:fs'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { createProxiedDispatcher } from '../../lib/egress/proxied-dispatcher.ts'
import type { Account } from '../account/account.ts'
import type { durableRepository } from '../account/durable-signal.ts'
import type { ConnectionKeys } from '../account/connection-keys.ts'
import { defaultUrl, defaultVersion, WA_CERT_DETAILS } from '../library/library.ts'
import type {
  AuthenticationCreds,
  GroupMetadata,
  LibraryLogger,
  proto,
  UserFacingSocketConfig,
  WAVersion,
} from '../library/library.ts'
import { createProxyAgent } from './proxy-agent.ts'

export type NetworkSettings = {
  url: string | null
  rootKey: string | null
  caFile: string
  version: readonly string[]
  proxy: string | null
}

/** What is the same for all connections. */
export type Endpoint = {
  url: string | URL
  version: WAVersion
  proxied: Proxied | undefined
  qrLifetimeMs: number
}

/** The same proxy for connections and uploads, and for what the library fetches. */
type Proxied = { agent: Agent; dispatcher: ReturnType<typeof createProxiedDispatcher> }

type Parts = {
  endpoint: Endpoint
  account: Account
  creds: AuthenticationCreds
  connectionKeys: ConnectionKeys
  /** The library's own way without it. */
  repository?: ReturnType<typeof durableRepository>
  groupMetadata: (jid: string) => GroupMetadata | undefined
  sentMessage: (chat: string, id: string, asking: string) => Promise<proto.IMessage | undefined>
}

/** Settings of the process: which root key and which authorities to trust besides the usual ones. */
export function prepareEndpoint(settings: NetworkSettings, qrLifetimeMs: number): Endpoint {
  if (settings.rootKey !== null) WA_CERT_DETAILS.PUBLIC_KEY = Buffer.from(settings.rootKey, 'hex')
  if (settings.caFile !== '') trustAlso(readFileSync(settings.caFile, 'utf8'))
  return {
    url: settings.url ?? defaultUrl,
    version: settings.version.length === 3 ? (settings.version.map(Number) as WAVersion) : defaultVersion,
    proxied: settings.proxy === null ? undefined : throughProxy(settings.proxy),
    qrLifetimeMs,
  }
}

function throughProxy(proxy: string): Proxied {
  return { agent: createProxyAgent(proxy), dispatcher: createProxiedDispatcher(proxy) }
}

function trustAlso(certificate: string): void {
  setDefaultCACertificates([...getCACertificates('default'), certificate])
}

/** A query that takes longer blocks the account's other work. */
const queryTimeoutMs = 10_000
/** Between requests for messages that could not be opened; they hold up the messages behind them. */
const retryRequestDelayMs = 5
/** The longest a timer can wait: the service has its own probe. */
const never = 2 ** 31 - 1

export function socketConfig(parts: Parts): UserFacingSocketConfig {
  const { endpoint, account, creds, connectionKeys, repository, groupMetadata, sentMessage } = parts
  const { url, version, proxied, qrLifetimeMs } = endpoint
  return {
    auth: { creds, keys: connectionKeys.store },
    waWebSocketUrl: url,
    version,
    logger: silence,
    qrTimeout: qrLifetimeMs,
    // With a limit the library takes two stack traces for every frame it sends; the session has a deadline of its own.
    connectTimeoutMs: 0,
    defaultQueryTimeoutMs: queryTimeoutMs,
    keepAliveIntervalMs: never,
    retryRequestDelayMs,
    markOnlineOnConnect: false,
    syncFullHistory: false,
    // The service knows what it sent; a copy from here could come before the acknowledgement.
    emitOwnEvents: false,
    transactionOpts: { maxCommitRetries: 1, delayBetweenTriesMs: 1 },
    ...(repository && {
      makeSignalRepository: repository as NonNullable<UserFacingSocketConfig['makeSignalRepository']>,
    }),
    userDevicesCache: account.devices,
    msgRetryCounterCache: account.retryCounts,
    callOfferCache: account.callOffers,
    placeholderResendCache: account.resendRequests,
    getMessage: ({ remoteJid, id, participant }) => sentMessage(remoteJid ?? '', id ?? '', participant ?? ''),
    cachedGroupMetadata: (jid) => Promise.resolve(groupMetadata(jid)),
    ...(proxied && {
      agent: proxied.agent,
      fetchAgent: proxied.agent,
      options: { dispatcher: proxied.dispatcher } as object,
    }),
  }
}

const nothing = (): void => undefined
/** One for all: the library's lines carry keys and numbers, and a logger per connection costs memory. */
const silence: LibraryLogger = {
  level: 'silent',
  child: () => silence,
  trace: nothing,
  debug: nothing,
  info: nothing,
  warn: nothing,
  error: nothing,
}
