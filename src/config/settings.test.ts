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
  PUBLIC_STATS_ENABLED: 'false',
  PUBLIC_STATS_ALLOW_ORIGIN: '',
  LOG_LEVEL: 'info',
  LOG_FORMAT: '',
  DATABASE_URL: 'file:./data/service.db',
  SERVICE_ENCRYPTION_KEY: '',
  DOWNSTREAM_BASE_URL: '',
  DOWNSTREAM_API_TOKEN: '',
  DOWNSTREAM_ACCOUNT_ID: '1',
  DOWNSTREAM_INBOX_ID: '0',
  WEBHOOK_HMAC_SECRET: '',
  DOWNSTREAM_TIMEOUT: '15s',
  DOWNSTREAM_DB_URL: '',
  SERVICE_CONVERSATION_MODE: 'new',
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
  SERVICE_LOCALE: 'en',
  SERVICE_READ_RECEIPTS_SYNC: 'true',
  SERVICE_TYPING_SYNC: 'true',
  SERVICE_REACTIONS_SYNC: 'true',
  SERVICE_AVATAR_SYNC: 'true',
  SERVICE_AVATAR_REFRESH_TTL: '24h',
  SERVICE_DELIVERY_STATUS_SYNC: 'false',
  SERVICE_MARK_AS_READ_OUTGOING: 'true',
  SERVICE_PRESENCE: 'auto',
  SERVICE_RETROACTIVE_NAME_UPDATE: 'true',
  SERVICE_RETROACTIVE_PERSIST: 'true',
  SERVICE_RETROACTIVE_TTL: '720h',
  SERVICE_RETROACTIVE_CAP_PER_SENDER: '200',
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

test('exactly the settings that no part of the service reads are marked as planned', () => {
  const files = globSync('src/**/*.ts').filter((file) => !file.startsWith('src/config') && !file.endsWith('.test.ts'))
  const code = files.map((file) => readFileSync(file, 'utf8').replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, ''))
  const words = new Set(code.flatMap((text) => text.match(/\w+/g) ?? []))
  const rows = Object.values(settings).flatMap((section) => Object.entries<Setting<unknown>>(section))
  const unread = rows.filter(([key]) => !words.has(key))
  const planned = rows.filter(([, { since }]) => since === 'planned')
  assert.deepEqual(
    planned.map(([, { name }]) => name),
    unread.map(([, { name }]) => name),
  )
})
