import assert from 'node:assert/strict'
import { resolve } from 'node:path'
import { describe, test } from 'node:test'
import { allSettings, describeConfig, loadConfig, unknownVariables } from './config.ts'

const key = Buffer.alloc(32, 7)

test('without any variable the documented defaults hold', () => {
  const config = loadConfig({})
  assert.deepEqual(config.http, {
    port: 3100,
    host: '127.0.0.1',
    apiToken: '',
    publicUrl: null,
    bodyLimit: 1024 ** 2,
    maxConnections: 500,
    rateLimit: 0,
    trustProxy: false,
    healthDetails: 'public',
    publicStats: false,
    publicStatsOrigins: [],
  })
  assert.deepEqual(config.storage, {
    database: { engine: 'sqlite', path: resolve('data/service.db') },
    encryptionKeys: [],
    connections: 10,
  })
  assert.deepEqual(config.nodes, { listen: null, url: null, secret: '', cells: true, capacity: 100 })
  assert.equal(config.inbound.headerTemplate, '`$phone · $name`')
  assert.equal(config.inbound.groupHeaderSeparator, '\n\n')
  assert.equal(config.inbound.reactionHeaderSeparator, '\n')
  assert.equal(config.sync.retroactiveTtl, 720 * 3_600_000)
  assert.equal(config.outbound.drainRate, 1)
  assert.equal(config.lifecycle.shutdownGrace, 12_000)
})

test('an empty variable counts as absent', () => {
  const empty = Object.fromEntries(allSettings().map(({ name }) => [name, '']))
  assert.deepEqual(loadConfig(empty), loadConfig({}))
})

test('with a token the listener is reachable from outside unless HOST says otherwise', () => {
  assert.equal(loadConfig({ SERVICE_API_TOKEN: 't' }).http.host, '0.0.0.0')
  assert.equal(loadConfig({ SERVICE_API_TOKEN: 't', HOST: '::1' }).http.host, '::1')
})

test('a text for callers that no message can hold is refused, and is not printed whole', () => {
  const load = (length: number) => loadConfig({ SERVICE_REJECT_CALLS_TEXT: 'x'.repeat(length) })
  assert.equal(load(65_536).inbound.rejectCallsText.length, 65_536)
  const message = /SERVICE_REJECT_CALLS_TEXT=x{100}…: takes a text of at most 65536 characters$/
  assert.throws(() => load(65_537), { message })
})

describe('a value is understood', () => {
  const cases: [string, string, (config: ReturnType<typeof loadConfig>) => unknown, unknown][] = [
    ['SERVICE_TYPING_SYNC', '0', (config) => config.sync.typing, false],
    ['SERVICE_TYPING_SYNC', 'TRUE', (config) => config.sync.typing, true],
    ['SERVICE_LIFECYCLE_TIMEOUT', '1500ms', (config) => config.lifecycle.timeout, 1500],
    ['SERVICE_UNREACHABLE_GRACE', '2m', (config) => config.lifecycle.unreachableGrace, 120_000],
    ['SERVICE_MEDIA_MAX_BYTES', '512kb', (config) => config.inbound.mediaMaxBytes, 512 * 1024],
    ['SERVICE_DRAIN_RATE', '0.5', (config) => config.outbound.drainRate, 0.5],
    ['SERVICE_GROUP_HEADER_SEP', 'p', (config) => config.inbound.groupHeaderSeparator, '\n\n'],
    ['SERVICE_GROUP_HEADER_SEP', 'br', (config) => config.inbound.groupHeaderSeparator, '  \n'],
    ['SERVICE_GROUP_HEADER_SEP', ' — ', (config) => config.inbound.groupHeaderSeparator, ' — '],
    ['SERVICE_EGRESS_ALLOW', 'minio, 10.0.0.0/8', (config) => config.downstream.egressAllow, ['minio', '10.0.0.0/8']],
    ['SERVICE_NETWORK_VERSION', '2,3000,1', (config) => config.network.version, ['2', '3000', '1']],
    ['DOWNSTREAM_BASE_URL', 'https://desk/ ', (config) => config.downstream.baseUrl, 'https://desk'],
    [
      'DATABASE_URL',
      'file:/var/lib/x.db',
      (config) => config.storage.database,
      { engine: 'sqlite', path: '/var/lib/x.db' },
    ],
    ['DATABASE_URL', 'file:///var/x.db', (config) => config.storage.database, { engine: 'sqlite', path: '/var/x.db' }],
    [
      'DATABASE_URL',
      'postgres://u:p@h/d',
      (config) => config.storage.database,
      { engine: 'postgres', url: 'postgres://u:p@h/d' },
    ],
    [
      'DATABASE_URL',
      'file:C:\\data\\x.db',
      (config) => config.storage.database,
      { engine: 'sqlite', path: resolve('C:\\data\\x.db') },
    ],
    ['PUBLIC_STATS_ALLOW_ORIGIN', '*', (config) => config.http.publicStatsOrigins, []],
    [
      'PUBLIC_STATS_ALLOW_ORIGIN',
      'https://a, http://b:81',
      (config) => config.http.publicStatsOrigins,
      ['https://a', 'http://b:81'],
    ],
    ['SERVICE_LOCALE', 'pt', (config) => config.inbound.locale, 'pt'],
    ['SERVICE_LOCALE', 'pt-BR', (config) => config.inbound.locale, 'pt'],
    ['SERVICE_LOCALE', 'es-MX', (config) => config.inbound.locale, 'es'],
    ['SERVICE_LOCALE', 'en_US', (config) => config.inbound.locale, 'en'],
    ['SERVICE_LOCALE', 'PT_br.UTF-8', (config) => config.inbound.locale, 'pt'],
    ['SERVICE_LOCALE', 'es-419', (config) => config.inbound.locale, 'es'],
    ['SERVICE_API_TOKEN', ' to ken~ ', (config) => config.http.apiToken, 'to ken~'],
    ['SERVICE_LIFECYCLE_SECRET', 'plain', (config) => config.lifecycle.secret, Buffer.from('plain')],
    ['SERVICE_LIFECYCLE_SECRET', 'whsec_AQID', (config) => config.lifecycle.secret, Buffer.of(1, 2, 3)],
  ]
  for (const [name, value, read, expected] of cases) {
    test(`${name}=${value}`, () => {
      assert.deepEqual(read(loadConfig({ [name]: value })), expected)
    })
  }

  test('SERVICE_ENCRYPTION_KEY in every spelling of base64', () => {
    const tricky = Buffer.alloc(32, 0xfb)
    const spellings = [
      tricky.toString('base64'),
      tricky.toString('base64url'),
      tricky.toString('base64').replace(/=+$/, ''),
    ]
    for (const spelling of spellings) {
      assert.deepEqual(loadConfig({ SERVICE_ENCRYPTION_KEY: spelling }).storage.encryptionKeys, [tricky])
    }
    const list = `${tricky.toString('base64')}, ${key.toString('base64url')}`
    assert.deepEqual(loadConfig({ SERVICE_ENCRYPTION_KEY: list }).storage.encryptionKeys, [tricky, key])
  })
})

describe('a wrong value is refused naming variable, value and what it takes', () => {
  const cases: [name: string, value: string, shown?: string][] = [
    ['PORT', '65536'],
    ['PORT', 'http'],
    ['PORT', '-1'],
    ['PORT', '1e3'],
    ['LOG_LEVEL', 'loud'],
    ['SERVICE_HEALTH_DETAILS', 'none'],
    ['SERVICE_TYPING_SYNC', 'yes'],
    ['SERVICE_LIFECYCLE_TIMEOUT', '10'],
    ['SERVICE_LIFECYCLE_TIMEOUT', '5 s'],
    ['SERVICE_LIFECYCLE_TIMEOUT', '2h'],
    ['SERVICE_LIFECYCLE_TIMEOUT', '0'],
    ['SERVICE_MEDIA_MAX_BYTES', '64'],
    ['DOWNSTREAM_ACCOUNT_ID', '0'],
    ['DOWNSTREAM_ACCOUNT_ID', '2147483648'],
    ['SERVICE_DRAIN_RATE', '-1'],
    ['SERVICE_CONVERSATION_MODE', 'New'],
    ['SERVICE_LOCALE', 'fr'],
    ['SERVICE_LOCALE', 'fr-CA'],
    ['SERVICE_LOCALE', 'Portuguese'],
    ['SERVICE_LOCALE', 'pt-'],
    ['SERVICE_LOCALE', 'pt BR'],
    ['SERVICE_HEADER_TEMPLATE', '$phone $nmae'],
    ['SERVICE_EGRESS_ALLOW', '10.0.0.0/33'],
    ['SERVICE_EGRESS_ALLOW', 'a,,b'],
    ['SERVICE_NETWORK_URL', 'https://x/'],
    ['SERVICE_NETWORK_ROOT_KEY', 'abc'],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector:4318', '[not shown]'],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'http://collector:4318/?key=abc', 'http://collector:4318/'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'no value', '[set]'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'a=1,,b=2', '[set]'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'a=%0d%0ab', '[set]'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'a=%zz', '[set]'],
    ['OTEL_TRACES_SAMPLER_ARG', '1.1'],
    ['SERVICE_NETWORK_VERSION', '2,3000'],
    ['SERVICE_NETWORK_PROXY', 'socks4://x'],
    ['SERVICE_API_TOKEN', 'tökén', '[set]'],
    ['SERVICE_API_TOKEN', 'a\u0000b', '[set]'],
    ['PUBLIC_STATS_ALLOW_ORIGIN', 'https://a/'],
    ['PUBLIC_STATS_ALLOW_ORIGIN', 'https://a/b'],
    ['PUBLIC_STATS_ALLOW_ORIGIN', 'https://a:443'],
    ['PUBLIC_STATS_ALLOW_ORIGIN', 'desk.example'],
    ['PUBLIC_STATS_ALLOW_ORIGIN', 'https://a,'],
    ['PUBLIC_STATS_ALLOW_ORIGIN', '*, https://a'],
    ['DOWNSTREAM_BASE_URL', 'desk.example', '[not shown]'],
    ['DOWNSTREAM_BASE_URL', 'https://desk.example/#inbox', 'https://desk.example/'],
    ['DOWNSTREAM_ACCOUNT_ID', '0'],
    ['DATABASE_URL', 'mysql://x'],
    ['DATABASE_URL', 'file:'],
    ['DATABASE_URL', 'file::memory:'],
    ['DATABASE_URL', 'service.db', '[not shown]'],
  ]
  for (const [name, value, shown = value] of cases) {
    test(`${name}=${value}`, () => {
      assert.throws(
        () => loadConfig({ [name]: value }),
        (error: Error) => error.message.includes(`${name}=${shown}: takes `),
      )
    })
  }

  test('a secret is named but not shown', () => {
    for (const name of ['SERVICE_ENCRYPTION_KEY', 'SERVICE_LIFECYCLE_SECRET']) {
      const value = name.endsWith('KEY') ? 'canary' : 'whsec_canary!'
      assert.throws(
        () => loadConfig({ [name]: value }),
        (error: Error) => error.message.includes(`${name}=[set]: takes`) && !error.message.includes('canary'),
      )
    }
  })

  test('a URL is shown without parts that could be a password', () => {
    for (const value of [
      'postgres://u:can/ary@host/db',
      'postgres://u:12/canary@host/db',
      'postgres://canary:12?34@host/db',
      'postgres://canary:12#34@host/db',
      'postgres:u:canary@h/d',
      'canary',
      'host=h password=canary',
      'mysql://u:canary@h/d',
      'file:x?password=canary',
    ]) {
      for (const name of ['DATABASE_URL', 'DOWNSTREAM_DB_URL', 'SERVICE_NETWORK_PROXY', 'SERVICE_NETWORK_URL']) {
        const shown = describeConfig({ [name]: value })[name] ?? ''
        assert.doesNotMatch(shown, /canary|ary@/, value)
        try {
          loadConfig({ [name]: value })
        } catch (error) {
          assert.doesNotMatch((error as Error).message, /canary|ary@/, value)
        }
      }
    }
  })

  test('all wrong values are reported at once', () => {
    assert.throws(() => loadConfig({ PORT: 'x', LOG_LEVEL: 'y' }), /PORT=x[^]*LOG_LEVEL=y/)
  })
})

test('the summary shows what was changed, without secrets and passwords', () => {
  const shown = describeConfig({
    PORT: '1',
    SERVICE_API_TOKEN: 'canary',
    SERVICE_ENCRYPTION_KEY: 'canary',
    WEBHOOK_HMAC_SECRET: 'canary',
    DOWNSTREAM_API_TOKEN: 'canary',
    SERVICE_LIFECYCLE_SECRET: 'canary',
    DATABASE_URL: 'postgres://user:canary@host/db',
    DOWNSTREAM_DB_URL: 'postgres://user:canary@host/db',
    SERVICE_NETWORK_PROXY: 'http://user:canary@proxy:1',
    LOG_LEVEL: 'info',
    HOME: 'canary',
  })
  assert.ok(!JSON.stringify(shown).includes('canary'), JSON.stringify(shown))
  assert.equal(shown['PORT'], '1')
  assert.equal(shown['SERVICE_API_TOKEN'], '[set]')
  assert.equal(shown['DATABASE_URL'], 'postgres://host/db')
  for (const url of [
    'postgres://u:p@canary@host/db',
    'postgres://host/db?password=canary',
    'postgres://u:%63anary@host/db',
  ]) {
    assert.deepEqual(describeConfig({ DATABASE_URL: url }), { DATABASE_URL: 'postgres://host/db' })
  }
  assert.deepEqual(describeConfig({ DATABASE_URL: 'file:./other.db' }), { DATABASE_URL: 'file:./other.db' })
  assert.ok(!('LOG_LEVEL' in shown))
})

test('what differs from the defaults is known by name, with its default; a secret is marked', () => {
  const { differing } = loadConfig({
    PORT: '4000',
    SERVICE_API_TOKEN: 'canary',
    LOG_LEVEL: 'info',
    SERVICE_IGNORE_JIDS: '5511988880001@s.whatsapp.net',
    SERVICE_REJECT_CALLS_TEXT: 'Write, or call +55 11 4004-0001',
  })
  assert.deepEqual(differing, [
    { name: 'PORT', value: '4000', standard: '3100', isSecret: false },
    { name: 'SERVICE_API_TOKEN', value: '[set]', standard: '', isSecret: true },
    { name: 'SERVICE_IGNORE_JIDS', value: '…01@s.whatsapp.net', standard: '', isSecret: false },
    { name: 'SERVICE_REJECT_CALLS_TEXT', value: 'Write, or call …01', standard: '', isSecret: false },
  ])
})

test('the headers for the collector are decoded', () => {
  const { headers } = loadConfig({ OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20a=, x-team = shop' }).traces
  assert.deepEqual(headers, { authorization: 'Bearer a=', 'x-team': 'shop' })
})

test('every setting whose name says that it is a secret is marked as one', () => {
  const secrets = allSettings().filter(({ kind }) => kind.secret)
  assert.deepEqual(secrets.map(({ name }) => name).sort(), [
    'DOWNSTREAM_API_TOKEN',
    'OTEL_EXPORTER_OTLP_HEADERS',
    'SERVICE_API_TOKEN',
    'SERVICE_ENCRYPTION_KEY',
    'SERVICE_LIFECYCLE_SECRET',
    'SERVICE_NODE_SECRET',
    'WEBHOOK_HMAC_SECRET',
  ])
})

test('a variable that the service does not know, such as one of a later version, does not keep it from starting', () => {
  const environment = { SERVICE_HISTORY_IMPORT_FOREVER: 'perhaps' }
  assert.equal(loadConfig(environment).http.port, 3100)
  assert.deepEqual(unknownVariables(environment), ['SERVICE_HISTORY_IMPORT_FOREVER'])
})

test('variables that look like ours but are not are found', () => {
  assert.deepEqual(
    unknownVariables({ SERVICE_API_TOKEN: 'x', SERVICE_APITOKEN: 'x', PATH: 'x', DOWNSTREAM_URL: 'x' }),
    ['SERVICE_APITOKEN', 'DOWNSTREAM_URL'],
  )
})
