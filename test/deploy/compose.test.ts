// The compose files agree with the settings, with the image and with the time that a stop takes.

import assert from 'node:assert/strict'
import { cpSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { parse } from 'yaml'
import { assertBehindProxy, configOf, longestStopSeconds, readYaml } from './harness/deploy-files.ts'
import { standardPort, version } from './harness/deploy-files.ts'
import { runTool, without } from './harness/tools.ts'

type Compose = {
  services: Record<string, Record<string, unknown> & { environment: Record<string, string> }>
  volumes?: Record<string, unknown>
}

const [main] = readYaml('deploy/compose.yml') as Compose[]
const [beside] = readYaml('deploy/compose.chatwoot.yml') as Compose[]
const causeway = main?.services['causeway']
const postgres = main?.services['causeway-postgres']
assert.ok(main && causeway && postgres && beside)

/** A variable that .env may set has the value that compose falls back to. */
const fallback = (value: string) => value.replace(/^\$\{\w+:-(.*)\}$/, '$1')
const variables = Object.fromEntries(
  Object.entries(causeway.environment).map(([name, value]) => [name, fallback(value)]),
)

describe('compose.yml', () => {
  test('sets variables that exist, to values that the service takes', () => {
    assertBehindProxy(variables)
    configOf(beside.services['causeway']?.environment ?? {})
    assert.equal(variables['PORT'], String(standardPort))
  })

  test('has every service that a command of the documents names', () => {
    const pages = globSync('docs/*.md').map((page) => readFileSync(page, 'utf8'))
    const named = pages.join('\n').matchAll(/docker compose (?:exec(?: -T)?|stop) ([\w-]+)/g)
    const names = new Set([...named].map(([, name = '']) => name))
    assert.deepEqual(
      [...names].filter((name) => !(name in main.services)),
      [],
    )
    assert.ok(names.has('causeway') && names.has('causeway-postgres'))
  })

  test('opens the port to this machine only', () => {
    assert.deepEqual(causeway['ports'], [`127.0.0.1:${standardPort}:${standardPort}`])
  })

  test('stores the database in the volume of the image', () => {
    assert.equal(variables['DATABASE_URL'], 'file:/data/service.db')
    assert.deepEqual(causeway['volumes'], ['data:/data'])
    assert.ok(main.volumes && 'data' in main.volumes)
  })

  test('gives the service nothing else to write, and no rights', () => {
    assert.equal(causeway['read_only'], true)
    assert.deepEqual(causeway['cap_drop'], ['ALL'])
    assert.deepEqual(causeway['security_opt'], ['no-new-privileges:true'])
    assert.match(String(causeway['tmpfs']), /^\/tmp:/)
  })

  test('waits for a stop longer than the service takes', () => {
    assert.ok(parseInt(String(causeway['stop_grace_period'])) > longestStopSeconds)
  })

  test('names the version of the package', () => {
    assert.equal(fallback(String(causeway['image'])), `causeway:${version}`)
  })

  test('needs a token', () => {
    assert.match(causeway.environment['SERVICE_API_TOKEN'] ?? '', /^\$\{SERVICE_API_TOKEN:\?.+\}$/)
  })

  test('listens on all addresses of the container', () => {
    assert.equal(configOf({ ...variables, SERVICE_API_TOKEN: 'token' }).http.host, '0.0.0.0')
  })

  test('bounds the logs of every container', () => {
    for (const [name, { logging }] of Object.entries(main.services)) {
      assert.deepEqual(logging, { driver: 'json-file', options: { 'max-size': '20m', 'max-file': '5' } }, name)
    }
  })

  test('gives its volumes names that do not depend on the folder', () => {
    assert.deepEqual(main.volumes, { data: { name: 'causeway-data' }, postgres: { name: 'causeway-postgres' } })
  })

  test('starts PostgreSQL only with its profile, under a name that Chatwoot does not use', () => {
    assert.deepEqual(Object.keys(main.services), ['causeway', 'causeway-postgres'])
    assert.deepEqual(postgres['profiles'], ['postgres'])
  })

  test('stops PostgreSQL with the signal at which it still serves its connections', () => {
    assert.equal(postgres['stop_signal'], 'SIGTERM')
    assert.ok(parseInt(String(postgres['stop_grace_period'])) > parseInt(String(causeway['stop_grace_period'])))
  })

  test('mounts the volume of PostgreSQL where its version stores data', () => {
    const major = Number(/^postgres:(\d+)-/.exec(String(postgres['image']))?.[1])
    const path = major < 18 ? '/var/lib/postgresql/data' : '/var/lib/postgresql'
    assert.deepEqual(postgres['volumes'], [`postgres:${path}`])
  })
})

const token = 'SERVICE_API_TOKEN=secret\n'

describe('docker-compose', { skip: without('docker-compose') }, () => {
  const config = (settings: string): Compose => {
    const folder = mkdtempSync(join(tmpdir(), 'causeway-compose-'))
    try {
      for (const file of ['compose.yml', 'compose.chatwoot.yml']) cpSync(`deploy/${file}`, join(folder, file))
      writeFileSync(join(folder, '.env'), settings)
      return parse(runTool('docker-compose', ['config'], { cwd: folder }).stdout) as Compose
    } finally {
      rmSync(folder, { recursive: true })
    }
  }

  for (const settings of ['', 'SERVICE_API_TOKEN=\n']) {
    test(`says that the token is missing, with .env ${JSON.stringify(settings)}`, () => {
      assert.throws(() => config(settings), /add SERVICE_API_TOKEN to the file \.env beside/)
    })
  }

  test('a HOST in .env does not close the port', () => {
    const { services } = config(`${token}HOST=127.0.0.1\n`)
    assert.equal(services['causeway']?.environment['HOST'], '')
  })

  test('reads compose.yml, and .env reaches the service', () => {
    const { services } = config(token)
    assert.equal(services['causeway']?.environment['SERVICE_API_TOKEN'], 'secret')
  })

  test('with the profile, the service uses the PostgreSQL that .env names', () => {
    const url = 'postgres://causeway:secret@causeway-postgres/causeway'
    const settings = `${token}COMPOSE_PROFILES=postgres\nDATABASE_URL=${url}\nPOSTGRES_PASSWORD=secret\n`
    const { services } = config(settings)
    assert.equal(services['causeway']?.environment['DATABASE_URL'], url)
    assert.equal(services['causeway-postgres']?.environment['POSTGRES_PASSWORD'], 'secret')
  })

  test('beside Chatwoot, the service is in both networks', () => {
    const { services } = config(`${token}COMPOSE_FILE=compose.yml:compose.chatwoot.yml\n`)
    assert.deepEqual(Object.keys(services['causeway']?.['networks'] as object).sort(), ['chatwoot', 'default'])
    // compose also gives the service the lines of .env that are for compose itself. The service reads no such variable.
    const { COMPOSE_FILE: files, ...variables } = services['causeway']?.environment ?? {}
    assert.equal(files, 'compose.yml:compose.chatwoot.yml')
    assertBehindProxy(variables)
  })
})
