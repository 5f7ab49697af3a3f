import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { isLoopback } from './loopback.ts'
import { thisMachine } from './machine.ts'
import { checkMachine } from './machine-checks.ts'
import type { MachineFacts } from './machine-checks.ts'
import type { CheckName } from './finding.ts'

const gigabyte = 1024 ** 3
const right: MachineFacts = {
  hasFfmpeg: true,
  disks: [{ directory: '/data', freeBytes: 10 * gigabyte }],
  hasEncryptionKey: true,
  host: '0.0.0.0',
  publicUrl: null,
  hasApiToken: true,
}

function findingOf(name: CheckName, changes: Partial<MachineFacts>) {
  return checkMachine({ ...right, ...changes }).find((each) => each.name === name)
}

test('a machine that is as it should be passes every check', () => {
  assert.deepEqual(new Set(checkMachine(right).map(({ result }) => result)), new Set(['ok']))
})

test('the fullest disk decides: advice below 1 GB, broken below 128 MB, broken when it cannot be looked at', () => {
  const at = (freeBytes: number | null) =>
    findingOf('disk_space', { disks: [...right.disks, { directory: '/tmp', freeBytes }] })
  const results = [gigabyte, gigabyte - 1, gigabyte / 8, gigabyte / 8 - 1, 0, null].map((free) => at(free)?.result)
  assert.deepEqual(results, ['ok', 'advice', 'advice', 'broken', 'broken', 'broken'])
  assert.match(at(0)?.cure ?? '', /\/tmp/)
})

test('an API without a token is broken beyond loopback', () => {
  const at = (host: string) => findingOf('public_listener', { host, hasApiToken: false })?.result
  assert.deepEqual(['127.0.0.1', '::1', 'localhost'].map(at), ['ok', 'ok', 'ok'])
  assert.deepEqual(['0.0.0.0', '::', '192.168.1.5', 'bridge.local'].map(at), ['broken', 'broken', 'broken', 'broken'])
  assert.deepEqual(['127.8.8.8', 'LOCALHOST', '128.0.0.1'].map(isLoopback), [true, true, false])
})

test('an API without a token on loopback has advice if SERVICE_PUBLIC_URL leads to it from elsewhere', () => {
  const at = (publicUrl: string) =>
    findingOf('public_listener', { host: '127.0.0.1', publicUrl, hasApiToken: false })?.result
  assert.deepEqual(['http://127.0.0.1:3000', 'http://localhost', 'http://[::1]:3000'].map(at), ['ok', 'ok', 'ok'])
  assert.equal(at('https://bridge.example'), 'advice')
})

test('a missing key and a missing ffmpeg are advice', () => {
  assert.equal(findingOf('encryption_key', { hasEncryptionKey: false })?.result, 'advice')
  assert.equal(findingOf('ffmpeg', { hasFfmpeg: false })?.result, 'advice')
})

test('this machine tells its free space and which programs it can run', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'causeway-disk-'))
  try {
    assert.ok((await thisMachine.freeBytes(folder)) > 0)
    await assert.rejects(thisMachine.freeBytes(join(folder, 'missing')))
    assert.equal(await thisMachine.runs(process.execPath, ['--version']), true)
    assert.equal(await thisMachine.runs(process.execPath, ['--no-such-option']), false)
    assert.equal(await thisMachine.runs(join(folder, 'missing'), []), false)
  } finally {
    await rm(folder, { recursive: true })
  }
})
