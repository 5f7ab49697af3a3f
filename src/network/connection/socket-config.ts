// Configures the library for one connection.

import type { Jid, NetworkMessageId } from '../../core/ids.ts'
import type { Account } from '../account/account.ts'
import type { durableRepository } from '../account/durable-signal.ts'
import { historyDaysOf } from '../account/history-days.ts'
import type { ConnectionKeys } from '../account/connection-keys.ts'
import { defaultUrl, WA_CERT_DETAILS } from '../library/library.ts'
import type {
  AuthenticationCreds,
  GroupMetadata,
  LibraryLogger,
  proto,
  UserFacingSocketConfig,
  WAVersion,
} from '../library/library.ts'
import { createProxied } from './proxy-agent.ts'
import type { Proxied } from './proxy-agent.ts'
import type { Way } from './unreachable.ts'
import { trustCertificatesOf } from './trusted-authority.ts'

export type NetworkSettings = {
  url: string | null
  rootKey: string | null
  caFile: string
  version: readonly string[]
  proxy: string | null
}

/** The settings of a connection. All connections share them, except those of an instance with its own proxy. */
export type Endpoint = {
  url: string | URL
  /** The settings name another server than WhatsApp's. */
  isElsewhere: boolean
  proxied: Proxied | undefined
  qrLifetimeMs: number
}

type Parts = {
  endpoint: Endpoint
  version: WAVersion
  account: Account
  creds: AuthenticationCreds
  connectionKeys: ConnectionKeys
  /** Without it the library uses its own repository. */
  repository?: ReturnType<typeof durableRepository>
  groupMetadata: (jid: Jid) => GroupMetadata | undefined
  sentMessage: (chat: Jid, id: NetworkMessageId, asking: Jid) => Promise<proto.IMessage | undefined>
}

/** Also sets the root key and the certificate authorities that this process trusts. */
export function prepareEndpoint(settings: NetworkSettings, qrLifetimeMs: number): Endpoint {
  if (settings.rootKey !== null) WA_CERT_DETAILS.PUBLIC_KEY = Buffer.from(settings.rootKey, 'hex')
  if (settings.caFile !== '') trustCertificatesOf(settings.caFile)
  return {
    url: settings.url ?? defaultUrl,
    isElsewhere: settings.url !== null || settings.rootKey !== null,
    proxied: settings.proxy === null ? undefined : createProxied(settings.proxy),
    qrLifetimeMs,
  }
}

/** How a connection to this endpoint gets to the network. */
export function wayOf({ proxied, isElsewhere }: Endpoint): Way {
  return { proxyHost: proxied?.host, isElsewhere }
}

/** A slow query blocks other work of the account. */
const queryTimeoutMs = 10_000
/** The pause before the library asks for an undecryptable message again. The next messages wait for it. */
const retryRequestDelayMs = 5
/** The longest time of a timer. The service has its own probe, so the library's keep-alive is not needed. */
const never = 2 ** 31 - 1

export function socketConfig(parts: Parts): UserFacingSocketConfig {
  const { endpoint, version, account, creds, connectionKeys, repository, groupMetadata, sentMessage } = parts
  const { url, proxied, qrLifetimeMs } = endpoint
  return {
    auth: { creds, keys: connectionKeys.store },
    waWebSocketUrl: url,
    version,
    logger: silence,
    qrTimeout: qrLifetimeMs,
    // With a limit the library takes two stack traces for every frame. The session has a deadline of its own.
    connectTimeoutMs: 0,
    defaultQueryTimeoutMs: queryTimeoutMs,
    keepAliveIntervalMs: never,
    retryRequestDelayMs,
    markOnlineOnConnect: false,
    syncFullHistory: historyDaysOf(creds) !== null,
    // The library gets no history to download, so all kinds are small.
    shouldSyncHistoryMessage: () => true,
    // The service knows what it sent. The library's copy could come before the acknowledgement.
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
/** One logger for all connections, to save memory. It drops the library's lines, because they contain keys and numbers. */
const silence: LibraryLogger = {
  level: 'silent',
  child: () => silence,
  trace: nothing,
  debug: nothing,
  info: nothing,
  warn: nothing,
  error: nothing,
}
