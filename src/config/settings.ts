// The one table of settings: the parser, .env.example and docs/configuration.md all come from it.

import type { OwnValue } from '../core/chosen-settings.ts'
import { messageLimits } from '../core/outbox.ts'
import { bool, decimal, duration, httpUrl, integer, isHostOrCidr, list } from './setting-kinds.ts'
import { oneOf, secretHeaderText, secretText, size, text, textUpTo, url } from './setting-kinds.ts'
import type { Kind } from './setting-kinds.ts'
import { databaseUrl, encryptionKeys, headerList, hexKey, jidPatterns, locale, origins } from './setting-formats.ts'
import { nodeAddress, nodeSecret, nodeUrl, separator, signingSecret, template } from './setting-formats.ts'

export type Setting<T> = {
  name: string
  kind: Kind<T>
  /** The text that is used when the variable is absent or empty. */
  standard: string
  doc: string
}

/** A setting that an instance can have of its own; `field` is its name in the API. */
export type OwnSetting<T> = Setting<T> & { field: string }

function setting<T>(name: string, kind: Kind<T>, standard: string, doc: string): Setting<T> {
  return { name, kind, standard, doc }
}

function perInstance<T extends OwnValue>(field: string, row: Setting<T>): OwnSetting<T> {
  return { ...row, field }
}

// One line per row, so that the columns can be compared.
// prettier-ignore
export const settings = {
  http: {
    port: setting('PORT', integer(0, 65535), '3100', 'TCP port of the HTTP listener; 0 picks a free one'),
    host: setting('HOST', text, '', 'Address to listen on; empty: 127.0.0.1 if SERVICE_API_TOKEN is empty, else 0.0.0.0'),
    apiToken: setting('SERVICE_API_TOKEN', secretHeaderText, '', 'Bearer token of the API; empty: every route is open (development), but not to the pages of other sites'),
    publicUrl: setting('SERVICE_PUBLIC_URL', httpUrl, '', 'Base URL under which the helpdesk reaches this service; needed to set up a helpdesk inbox'),
    bodyLimit: setting('SERVICE_BODY_LIMIT', size('1kb', '64mb'), '1mb', 'Largest request body; a larger one is 413. The webhook accepts at least 5mb'),
    maxConnections: setting('SERVICE_MAX_CONNECTIONS', integer(10, 100_000), '500', 'Open HTTP connections; above it the connection that is longest without a complete request is closed. Ten more are kept for GET requests, so that health answers'),
    rateLimit: setting('SERVICE_API_RATE_LIMIT', integer(0, 1_000_000), '0', 'Requests per minute and client address, above it 429; 0: no limit. Webhook, health and metrics have no limit'),
    trustProxy: setting('SERVICE_TRUST_PROXY', bool, 'false', 'Believe the proxy in front of the service: the client address is the last entry of X-Forwarded-For, X-Forwarded-Host is the host that the client asked for, and X-Forwarded-Proto says whether it came over https'),
    healthDetails: setting('SERVICE_HEALTH_DETAILS', oneOf('public', 'token'), 'public', 'Who sees names in GET /api/health: everybody, or only callers with the token; others then get the status and the counts'),
    publicStats: setting('PUBLIC_STATS_ENABLED', bool, 'false', 'Serve GET /api/public/stats without a token'),
    publicStatsOrigins: setting('PUBLIC_STATS_ALLOW_ORIGIN', origins, '', 'Browser origins allowed to read the public stats; empty: any'),
  },
  log: {
    level: setting('LOG_LEVEL', oneOf('trace', 'debug', 'info', 'warn', 'error', 'silent'), 'info', 'Least important level that is logged'),
    format: setting('LOG_FORMAT', oneOf('', 'pretty', 'json'), '', 'pretty or json; empty: pretty on a terminal, else json'),
  },
  traces: {
    endpoint: setting('OTEL_EXPORTER_OTLP_ENDPOINT', httpUrl, '', 'Base URL of an OpenTelemetry collector that takes OTLP over HTTP, such as http://localhost:4318; empty: no traces'),
    headers: setting('OTEL_EXPORTER_OTLP_HEADERS', headerList, '', 'Headers for the collector, such as authorization=Bearer%20abc'),
    serviceName: setting('OTEL_SERVICE_NAME', textUpTo(100), 'causeway', 'Name of the service in the traces'),
    share: setting('OTEL_TRACES_SAMPLER_ARG', decimal(0, 1), '1', 'Share of the messages that are traced; 0.1: one in ten'),
  },
  storage: {
    database: setting('DATABASE_URL', databaseUrl, 'file:./data/service.db', 'file:<path> for embedded SQLite, postgres://… for PostgreSQL'),
    encryptionKeys: setting('SERVICE_ENCRYPTION_KEY', encryptionKeys, '', 'Keys that encrypt session keys, tenant secrets and message payloads at rest; the first encrypts, all decrypt'),
    connections: setting('SERVICE_POSTGRES_CONNECTIONS', integer(2, 1000), '10', 'Connections of a process to PostgreSQL; two more are kept for its beat and for health. All processes together must stay below max_connections of PostgreSQL'),
  },
  nodes: {
    listen: setting('SERVICE_NODE_LISTEN', nodeAddress, '', 'Where this process listens for other nodes, as host:port, on a private network; needs PostgreSQL. Empty: one process serves, and others stand by'),
    url: setting('SERVICE_NODE_URL', nodeUrl, '', 'Where other nodes reach this process, such as http://10.0.0.5:8091; empty: at SERVICE_NODE_LISTEN'),
    secret: setting('SERVICE_NODE_SECRET', nodeSecret, '', 'Signs the requests between nodes; the same on every node, required with SERVICE_NODE_LISTEN'),
    cells: setting('SERVICE_NODE_CELLS', bool, 'true', 'Whether a node starts another process, a cell, for instances whose nodes died twice within ten minutes, so that the one that ends its node is found; the cell needs memory beside this process'),
    capacity: setting('SERVICE_NODE_CAPACITY', integer(1, 100_000), '100', 'How many instances this node carries in relation to other nodes: a node with 200 gets twice as many as one with 100'),
  },
  downstream: {
    baseUrl: setting('DOWNSTREAM_BASE_URL', httpUrl, '', 'Base URL of the default Chatwoot; empty: received messages wait until one is set'),
    apiToken: setting('DOWNSTREAM_API_TOKEN', secretText, '', 'API access token of the default Chatwoot'),
    accountId: setting('DOWNSTREAM_ACCOUNT_ID', integer(1, 2 ** 31 - 1), '1', 'Account id at the default Chatwoot'),
    inboxId: setting('DOWNSTREAM_INBOX_ID', integer(0, 2 ** 31 - 1), '0', 'Inbox id at the default Chatwoot; 0: the tenant or the instance sets it'),
    webhookSecret: setting('WEBHOOK_HMAC_SECRET', secretText, '', 'Secret that signs the callbacks of Chatwoot, beside the secrets of tenants and of helpdesk inboxes; without any secret callbacks are not verified'),
    timeout: setting('DOWNSTREAM_TIMEOUT', duration('1s', '10m'), '15s', 'Deadline of one call to Chatwoot; an upload gets its size / 256 KB/s in addition'),
    databaseUrl: setting('DOWNSTREAM_DB_URL', url('postgres:', 'postgresql:'), '', 'PostgreSQL database of the Chatwoot at DOWNSTREAM_BASE_URL, in which headers of earlier messages are rewritten and dates of imported messages are corrected; empty: headers stay, and imported messages begin with their time'),
    conversationMode: perInstance('conversation_mode', setting('SERVICE_CONVERSATION_MODE', oneOf('new', 'reopen'), 'new', 'What a message does when the last conversation is resolved: open a new one, or reopen it')),
    newConversationStatus: perInstance('new_conversation_status', setting('SERVICE_NEW_CONVERSATION_STATUS', oneOf('open', 'pending'), 'open', 'Status of a conversation that the service opens; pending: for teams whose bots answer first')),
    egressAllow: setting('SERVICE_EGRESS_ALLOW', list('hosts or CIDR ranges', isHostOrCidr), '', 'Private hosts or networks that attachment downloads may reach'),
  },
  inbound: {
    inboxTtl: setting('SERVICE_INBOX_TTL', duration('1h', '8760h'), '168h', 'How long the service tries to deliver a received message before it is parked'),
    messageMapTtl: setting('SERVICE_MESSAGE_MAP_TTL', duration('24h', '87600h'), '2160h', 'How long the service remembers which WhatsApp message is which Chatwoot message'),
    mediaMaxBytes: setting('SERVICE_MEDIA_MAX_BYTES', size('64kb', '2gb'), '64mb', 'Largest attachment, both directions'),
    ignoreJids: perInstance('ignore_jids', setting('SERVICE_IGNORE_JIDS', jidPatterns, '', 'Chats that are not bridged; status and newsletters are never bridged')),
    groupPrefixSender: setting('SERVICE_GROUP_PREFIX_SENDER', bool, 'true', 'Start group messages with a header naming the sender'),
    groupHeaderTtl: setting('SERVICE_GROUP_HEADER_TTL', duration('0', '720h'), '0', '0: header on every group message; else only after another sender or after this time'),
    groupEvents: setting('SERVICE_GROUP_EVENTS_ENABLED', bool, 'false', 'Post group changes as activity messages. A change of the timer of disappearing messages is always posted'),
    headerTemplate: perInstance('header_template', setting('SERVICE_HEADER_TEMPLATE', template('phone', 'name'), '`$phone · $name`', 'Sender header of group messages and reactions')),
    groupHeaderSeparator: setting('SERVICE_GROUP_HEADER_SEP', separator, 'paragraph', 'What follows a group header'),
    reactionHeaderSeparator: setting('SERVICE_REACTION_HEADER_SEP', separator, 'nl', 'What follows a reaction header'),
    mentionTemplate: setting('SERVICE_MENTION_TEMPLATE', template('name'), '@$name', 'How a mention of a known person is written'),
    reactionAsReply: setting('SERVICE_REACTION_AS_REPLY', bool, 'true', 'Post a reaction as a reply to its target'),
    quoteStyle: perInstance('quote_style', setting('SERVICE_QUOTE_STYLE', oneOf('both', 'bubble', 'text'), 'both', 'How a quoted message is shown: as the bubble of Chatwoot and as text; as a bubble, and as text only where the original is not in the conversation; as text only')),
    rejectCalls: perInstance('reject_calls', setting('SERVICE_REJECT_CALLS', bool, 'false', 'Reject calls of customers')),
    rejectCallsText: setting('SERVICE_REJECT_CALLS_TEXT', textUpTo(messageLimits.characters), '', 'What a customer gets whose call was rejected, at most once an hour; empty: nothing'),
    locale: perInstance('locale', setting('SERVICE_LOCALE', locale, 'en', 'Language of the texts the service writes')),
  },
  sync: {
    readReceipts: setting('SERVICE_READ_RECEIPTS_SYNC', bool, 'true', 'Show agents which messages were read, and clear the unread count when the owner reads a chat on the phone'),
    typing: setting('SERVICE_TYPING_SYNC', bool, 'true', 'Show agents that customers type, and customers that agents type'),
    reactions: setting('SERVICE_REACTIONS_SYNC', bool, 'true', 'Carry reactions'),
    avatars: setting('SERVICE_AVATAR_SYNC', bool, 'true', 'Carry profile pictures'),
    avatarTtl: setting('SERVICE_AVATAR_REFRESH_TTL', duration('1m', '8760h'), '24h', 'How long a profile picture counts as fresh'),
    deliveryStatus: setting('SERVICE_DELIVERY_STATUS_SYNC', bool, 'false', 'Also carry "delivered", not only "read"'),
    markAsReadOutgoing: setting('SERVICE_MARK_AS_READ_OUTGOING', bool, 'true', 'Mark WhatsApp messages as read when an agent has seen them'),
    labels: setting('SERVICE_LABELS_SYNC', bool, 'false', 'Labels of WhatsApp Business chats and labels of conversations follow each other by name'),
    presence: setting('SERVICE_PRESENCE', oneOf('auto', 'online', 'never'), 'auto', 'When the account appears online; auto: for 2 minutes after an agent acted on that instance'),
    retroactiveNames: setting('SERVICE_RETROACTIVE_NAME_UPDATE', bool, 'true', 'Contacts that the service named, and headers of earlier messages, follow the names of people'),
    retroactivePersist: setting('SERVICE_RETROACTIVE_PERSIST', bool, 'true', 'Keep the headers of earlier messages across restarts; false: in memory only'),
    retroactiveTtl: setting('SERVICE_RETROACTIVE_TTL', duration('1h', '87600h'), '720h', 'How long the header of a message can be rewritten, at most SERVICE_MESSAGE_MAP_TTL'),
    retroactiveCap: setting('SERVICE_RETROACTIVE_CAP_PER_SENDER', integer(1, 100_000), '200', 'How many messages of a sender, the newest, can get another header'),
  },
  history: {
    enabled: setting('SERVICE_HISTORY_IMPORT_ENABLED', bool, 'false', 'Import the messages that the phone has from before. New instances ask the phone for them when they are linked, unless they are created with history.enabled false'),
    days: setting('SERVICE_HISTORY_IMPORT_DAYS', integer(1, 30), '7', 'How many days back messages are imported, unless a request or an instance says otherwise'),
    ratePerSec: setting('SERVICE_HISTORY_IMPORT_RATE_PER_SEC', decimal(0.1, 1000), '5', 'How many messages per second all imports together post to the helpdesk'),
  },
  outbound: {
    rateLimit: setting('SERVICE_OUTGOING_RATE_LIMIT', integer(0, 100_000), '0', 'Messages per minute and instance, unless the instance has its own limit; more messages wait in order; 0: no limit'),
    warmupDays: setting('SERVICE_WARMUP_DAYS', integer(0, 365), '0', 'How many days a newly linked number sends less: on day d of N it may send 0.2 + 0.8·d/N of its limit, or of 30 per minute without a limit; 0: off'),
    drainRate: setting('SERVICE_DRAIN_RATE', decimal(0, 1000), '1', 'Queued messages per second and instance after a reconnect; 0: unlimited'),
    callbackMaxAge: setting('SERVICE_CALLBACK_MAX_AGE', duration('2s', '10m'), '5s', "Set it as Chatwoot's WEBHOOK_TIMEOUT. A callback that is read later is refused, because Chatwoot already shows its message as failed"),
    spamguard: setting('SERVICE_SPAMGUARD_ENABLED', bool, 'true', 'false turns the spamguard off for every instance'),
    emojiReplyAsReaction: setting('SERVICE_EMOJI_REPLY_AS_REACTION', bool, 'false', 'Send a reply that is a single emoji as a reaction'),
    signMessages: perInstance('sign_messages', setting('SERVICE_SIGN_MESSAGES', bool, 'false', "Prefix agents' messages with the agent's name")),
  },
  lifecycle: {
    timeout: setting('SERVICE_LIFECYCLE_TIMEOUT', duration('1s', '1m'), '10s', 'Deadline of one lifecycle webhook call'),
    secret: setting('SERVICE_LIFECYCLE_SECRET', signingSecret, '', 'Signs lifecycle webhooks; empty: unsigned'),
    unreachableGrace: setting('SERVICE_UNREACHABLE_GRACE', duration('0', '1h'), '60s', 'How long an instance must be down before "unreachable"'),
    reconnectedGrace: setting('SERVICE_RECONNECTED_GRACE', duration('0', '1h'), '5s', 'How long an instance must be back before "reconnected"'),
    shutdownGrace: setting('SERVICE_SHUTDOWN_GRACE', duration('0', '5m'), '12s', 'How long connections to WhatsApp stay open after a stop signal; without a connection the service does not wait'),
    helpdeskNotices: setting('SERVICE_HELPDESK_NOTICES', bool, 'false', 'Post connection notices and QR images to an operations contact'),
  },
  network: {
    url: setting('SERVICE_NETWORK_URL', url('ws:', 'wss:'), '', 'WebSocket URL of another network, such as the simulator; empty: WhatsApp'),
    rootKey: setting('SERVICE_NETWORK_ROOT_KEY', hexKey, '', 'Noise root key of that network'),
    caFile: setting('SERVICE_NETWORK_CA', text, '', 'PEM file trusted for the media host of that network'),
    version: setting('SERVICE_NETWORK_VERSION', list('three numbers', (part) => /^\d{1,10}$/.test(part)), '', 'Pins the client version, as 2,3000,1234567890; empty: the service asks WhatsApp for the newest one'),
    proxy: setting('SERVICE_NETWORK_PROXY', url('http:', 'https:', 'socks5:'), '', 'Proxy for the daily version query, and for the connections and media of instances without their own; if it fails, the instance does not connect without it'),
  },
} as const
