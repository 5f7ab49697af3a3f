import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { allSettings } from './config.ts'
import { settings } from './settings.ts'
import type { Setting } from './settings.ts'

// Written a second time on purpose: a default that changes by accident would change running services.
const standards: Record<string, string> = {
  PORT: '3100',
  HOST: '',
  SERVICE_API_TOKEN: '',
  SERVICE_PUBLIC_URL: '',
  SERVICE_BODY_LIMIT: '1mb',
  SERVICE_MAX_CONNECTIONS: '500',
  SERVICE_API_RATE_LIMIT: '0',
  SERVICE_TRUST_PROXY: 'false',
  SERVICE_HEALTH_DETAILS: 'public',
  PUBLIC_STATS_ENABLED: 'false',
  PUBLIC_STATS_ALLOW_ORIGIN: '',
  OTEL_EXPORTER_OTLP_ENDPOINT: '',
  OTEL_EXPORTER_OTLP_HEADERS: '',
  OTEL_SERVICE_NAME: 'causeway',
  OTEL_TRACES_SAMPLER_ARG: '1',
  LOG_LEVEL: 'info',
  LOG_FORMAT: '',
  DATABASE_URL: 'file:./data/service.db',
  SERVICE_ENCRYPTION_KEY: '',
  SERVICE_POSTGRES_CONNECTIONS: '10',
  SERVICE_NODE_LISTEN: '',
  SERVICE_NODE_URL: '',
  SERVICE_NODE_SECRET: '',
  SERVICE_NODE_CELLS: 'true',
  SERVICE_NODE_CAPACITY: '100',
  DOWNSTREAM_BASE_URL: '',
  DOWNSTREAM_API_TOKEN: '',
  DOWNSTREAM_ACCOUNT_ID: '1',
  DOWNSTREAM_INBOX_ID: '0',
  WEBHOOK_HMAC_SECRET: '',
  DOWNSTREAM_TIMEOUT: '15s',
  DOWNSTREAM_DB_URL: '',
  SERVICE_CONVERSATION_MODE: 'new',
  SERVICE_NEW_CONVERSATION_STATUS: 'open',
  SERVICE_EGRESS_ALLOW: '',
  SERVICE_INBOX_TTL: '168h',
  SERVICE_MESSAGE_MAP_TTL: '2160h',
  SERVICE_MEDIA_MAX_BYTES: '64mb',
  SERVICE_IGNORE_JIDS: '',
  SERVICE_GROUP_PREFIX_SENDER: 'true',
  SERVICE_GROUP_HEADER_TTL: '0',
  SERVICE_GROUP_EVENTS_ENABLED: 'false',
  SERVICE_HEADER_TEMPLATE: '`$phone · $name`',
  SERVICE_GROUP_HEADER_SEP: 'paragraph',
  SERVICE_REACTION_HEADER_SEP: 'nl',
  SERVICE_MENTION_TEMPLATE: '@$name',
  SERVICE_REACTION_AS_REPLY: 'true',
  SERVICE_QUOTE_STYLE: 'both',
  SERVICE_REJECT_CALLS: 'false',
  SERVICE_REJECT_CALLS_TEXT: '',
  SERVICE_LOCALE: 'en',
  SERVICE_READ_RECEIPTS_SYNC: 'true',
  SERVICE_TYPING_SYNC: 'true',
  SERVICE_REACTIONS_SYNC: 'true',
  SERVICE_AVATAR_SYNC: 'true',
  SERVICE_AVATAR_REFRESH_TTL: '24h',
  SERVICE_DELIVERY_STATUS_SYNC: 'false',
  SERVICE_MARK_AS_READ_OUTGOING: 'true',
  SERVICE_LABELS_SYNC: 'false',
  SERVICE_PRESENCE: 'auto',
  SERVICE_RETROACTIVE_NAME_UPDATE: 'true',
  SERVICE_RETROACTIVE_PERSIST: 'true',
  SERVICE_RETROACTIVE_TTL: '720h',
  SERVICE_RETROACTIVE_CAP_PER_SENDER: '200',
  SERVICE_HISTORY_IMPORT_ENABLED: 'false',
  SERVICE_HISTORY_IMPORT_DAYS: '7',
  SERVICE_HISTORY_IMPORT_RATE_PER_SEC: '5',
  SERVICE_OUTGOING_RATE_LIMIT: '0',
  SERVICE_WARMUP_DAYS: '0',
  SERVICE_DRAIN_RATE: '1',
  SERVICE_SPAMGUARD_ENABLED: 'true',
  SERVICE_CALLBACK_MAX_AGE: '5s',
  SERVICE_EMOJI_REPLY_AS_REACTION: 'false',
  SERVICE_SIGN_MESSAGES: 'false',
  SERVICE_LIFECYCLE_TIMEOUT: '10s',
  SERVICE_LIFECYCLE_SECRET: '',
  SERVICE_UNREACHABLE_GRACE: '60s',
  SERVICE_RECONNECTED_GRACE: '5s',
  SERVICE_SHUTDOWN_GRACE: '12s',
  SERVICE_HELPDESK_NOTICES: 'false',
  SERVICE_NETWORK_URL: '',
  SERVICE_NETWORK_ROOT_KEY: '',
  SERVICE_NETWORK_CA: '',
  SERVICE_NETWORK_VERSION: '',
  SERVICE_NETWORK_PROXY: '',
}

test('every setting has the default that is promised, and none is missing or unknown', () => {
  assert.deepEqual(Object.fromEntries(allSettings().map(({ name, standard }) => [name, standard])), standards)
})

test('every default is a value that its setting takes', () => {
  for (const { name, kind, standard } of allSettings()) {
    assert.notEqual(kind.parse(standard), undefined, name)
    assert.match(kind.takes, /^\S.*\S$/, name)
    assert.doesNotMatch(kind.takes, / {2}/, name)
  }
})

/** The parts that get a whole section of the settings. All others get single settings. */
const readersOfSections: Record<string, readonly string[]> = {
  http: ['src/http/server/'],
  downstream: ['src/tenants/routing.ts'],
  inbound: ['src/bridge/inbound/compose/'],
  sync: ['src/bridge/sync/ticks/'],
  network: ['src/network/'],
}

test('a part of the service reads every setting', () => {
  const files = globSync('src/**/*.ts').filter((file) => !file.startsWith('src/config') && !file.endsWith('.test.ts'))
  const code = files.map((file) => [file, withoutComments(readFileSync(file, 'utf8'))] as const)
  const single = new Set(code.flatMap(([, text]) => settingsReadIn(text)))
  const chosen = new Set(code.flatMap(([, text]) => chosenSettingsReadIn(text)))
  const unread = Object.entries(settings).flatMap(([section, rows]) => {
    const readers = code.filter(([file]) => readersOfSections[section]?.some((path) => file.startsWith(path)))
    const isRead = (key: string, row: Setting<unknown>) =>
      ('field' in row ? chosen.has(key) : single.has(`${section}.${key}`)) ||
      readers.some(([, text]) => new RegExp(`[.{,]\\s*${key}\\b(?!\\??:)`).test(text))
    return Object.entries<Setting<unknown>>(rows).filter(([key, row]) => !isRead(key, row))
  })
  assert.deepEqual(
    unread.map(([, { name }]) => name),
    [],
  )
})

function withoutComments(code: string): string {
  return code.replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, '')
}

/** What is read of the settings of an instance: `settingsOf(instance).locale`, and `{ locale } = settingsOf(instance)`. */
function chosenSettingsReadIn(code: string): string[] {
  const named = [...code.matchAll(/\bsettingsOf\([\w.]+\)\.(\w+)/g)].map(([, key = '']) => key)
  const taken = [...code.matchAll(/\{([^{}]*)\} = (?:[\w#]+\.)*settingsOf\(/g)]
  return [
    ...named,
    ...taken.flatMap(([, list = '']) => [...list.matchAll(/(?:^|,)\s*(\w+)/g)].map(([, key = '']) => key)),
  ]
}

/** `config.http.port`, and `{ port } = config.http`. */
function settingsReadIn(code: string): string[] {
  const named = [...code.matchAll(/\bconfig\.(\w+)\.(\w+)/g)].map(([, section, key]) => `${section}.${key}`)
  const taken = [...code.matchAll(/\{([^{}]*)\} = (?:\w+\.)*config\.(\w+)\n/g)]
  const keys = taken.flatMap(([, list = '', section]) =>
    [...list.matchAll(/(?:^|,)\s*(\w+)/g)].map(([, key]) => `${section}.${key}`),
  )
  return [...named, ...keys]
}
