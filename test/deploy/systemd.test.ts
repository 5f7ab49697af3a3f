// The systemd unit agrees with the settings and with the time that a stop takes.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { assertBehindProxy, longestStopSeconds } from './harness/deploy-files.ts'
import { runTool, without } from './harness/tools.ts'

const text = readFileSync('deploy/systemd/causeway.service', 'utf8')
const values = (name: string) => [...text.matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].map(([, value = '']) => value)
const { NODE_COMPILE_CACHE: compiled, ...variables } = Object.fromEntries(
  values('Environment').map((each) => each.split(/=(.*)/s).slice(0, 2) as [string, string]),
)

describe('causeway.service', () => {
  test('sets variables that exist, to values that the service takes', () => {
    assertBehindProxy(variables)
    assert.equal(variables['HOST'], '127.0.0.1')
  })

  test('stores the database in its state directory', () => {
    const [state = ''] = values('StateDirectory')
    assert.equal(variables['DATABASE_URL'], `file:/var/lib/${state}/service.db`)
  })

  test('keeps what Node has compiled in its cache directory', () => {
    const [cache = ''] = values('CacheDirectory')
    assert.equal(compiled, `/var/cache/${cache}`)
  })

  test('starts a file that exists, without npm in between', () => {
    const [, file = ''] = values('ExecStart')[0]?.split(' ') ?? []
    assert.equal(file, 'bin/start.cjs')
    assert.ok(existsSync(file))
  })

  test('does not start without a token, because the proxy lets everybody through', () => {
    const [, script = ''] = /^\/bin\/sh -c '(.*)'$/.exec(values('ExecStartPre')[0] ?? '') ?? []
    // systemd reads two dollars as one.
    const check = (env: Record<string, string>) =>
      spawnSync('/bin/sh', ['-c', script.replaceAll('$$', '$')], { env, encoding: 'utf8' })
    for (const env of [{}, { SERVICE_API_TOKEN: '' }]) {
      const { status, stderr } = check(env)
      assert.deepEqual([status, stderr], [1, `set SERVICE_API_TOKEN in ${values('EnvironmentFile')[0]}\n`])
    }
    assert.equal(check({ SERVICE_API_TOKEN: 'a "b" $c' }).status, 0)
  })

  test('waits for a stop longer than the service takes, and stops the service itself', () => {
    assert.ok(Number(values('TimeoutStopSec')[0]) > longestStopSeconds)
    assert.deepEqual(values('KillMode'), ['mixed'])
  })

  test('leaves out what Node or the service cannot run with', () => {
    assert.deepEqual([...values('MemoryDenyWriteExecute'), ...values('ProcSubset')], [])
  })
})

describe('systemd-analyze', { skip: without('systemd-analyze') }, () => {
  const analyze = (args: readonly string[]) => {
    const folder = mkdtempSync(join(tmpdir(), 'causeway-unit-'))
    try {
      const unit = join(folder, 'causeway.service')
      // It checks that the program exists. This machine may have its Node elsewhere.
      writeFileSync(unit, text.replace('/usr/bin/node', process.execPath))
      return runTool('systemd-analyze', [...args, unit])
    } finally {
      rmSync(folder, { recursive: true })
    }
  }

  test('finds nothing wrong with the unit', () => {
    // It succeeds with a line that it does not know, and only says so. It also speaks of other units of this machine.
    const { stderr } = analyze(['verify', '--man=no'])
    assert.deepEqual(
      stderr.split('\n').filter((line) => line.includes('causeway')),
      [],
    )
  })

  test('calls the exposure of the unit low', () => {
    assert.match(analyze(['security', '--offline=true', '--no-pager', '--threshold=20']).stdout, /exposure level .* OK/)
  })
})
