// The compose files agree with the settings, with the image and with the time that a stop takes.

import assert from 'node:assert/strict'
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
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
assert.ok(main && causeway && beside)

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

  test('starts PostgreSQL only with its profile', () => {
    assert.deepEqual(main.services['postgres']?.['profiles'], ['postgres'])
  })
})

describe('docker-compose', { skip: without('docker-compose') }, () => {
  const config = (args: readonly string[], settings: string): Compose => {
    const folder = mkdtempSync(join(tmpdir(), 'causeway-compose-'))
    try {
      for (const file of ['compose.yml', 'compose.chatwoot.yml']) cpSync(`deploy/${file}`, join(folder, file))
      writeFileSync(join(folder, '.env'), settings)
      return parse(runTool('docker-compose', [...args, 'config'], { cwd: folder }).stdout) as Compose
    } finally {
      rmSync(folder, { recursive: true })
    }
  }

  test('reads compose.yml, and .env reaches the service', () => {
    const { services } = config(['-f', 'compose.yml'], 'SERVICE_API_TOKEN=secret\n')
    assert.equal(services['causeway']?.environment['SERVICE_API_TOKEN'], 'secret')
  })

  test('with the profile, the service uses the PostgreSQL that .env names', () => {
    const url = 'postgres://causeway:secret@postgres/causeway'
    const settings = `DATABASE_URL=${url}\nPOSTGRES_PASSWORD=secret\n`
    const { services } = config(['-f', 'compose.yml', '--profile', 'postgres'], settings)
    assert.equal(services['causeway']?.environment['DATABASE_URL'], url)
    assert.equal(services['postgres']?.environment['POSTGRES_PASSWORD'], 'secret')
  })

  test('beside Chatwoot, the service is in both networks', () => {
    const files = ['-f', 'compose.yml', '-f', 'compose.chatwoot.yml']
    const { services } = config(files, 'SERVICE_API_TOKEN=secret\n')
    assert.deepEqual(Object.keys(services['causeway']?.['networks'] as object).sort(), ['chatwoot', 'default'])
    assertBehindProxy(services['causeway']?.environment ?? {})
  })
})
