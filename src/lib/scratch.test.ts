import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, rm, utimes, writeFile } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { clearScratch, makeScratch } from './scratch.ts'

const directoryOf = (machine: string, pid: number) => join(tmpdir(), `causeway-scratch-${machine}-${pid}-abcdef`)

async function make(...directories: string[]): Promise<void> {
  for (const directory of directories) {
    await mkdir(directory, { recursive: true })
    await writeFile(join(directory, 'file'), 'x')
  }
}

test('directories of killed processes are removed; those of a running one stay', async () => {
  const { pid: dead } = spawnSync(process.execPath, ['--version'])
  const left = directoryOf(hostname(), dead)
  const used = directoryOf(hostname(), process.ppid)
  await make(left, used)
  const earlier = await makeScratch()
  await clearScratch()
  assert.deepEqual([left, used, earlier].map(existsSync), [false, true, false])
  await rm(used, { recursive: true })
})

test('a directory of another container with the same process id stays for a day', async () => {
  const used = directoryOf('another-container', process.pid)
  const left = directoryOf('former-container', process.pid)
  const ofOlderBuild = join(tmpdir(), `causeway-scratch-${process.pid}-abcdef`)
  await make(used, left, ofOlderBuild)
  const longAgo = new Date(Date.now() - 2 * 86_400_000)
  for (const directory of [left, ofOlderBuild]) await utimes(directory, longAgo, longAgo)
  await clearScratch()
  assert.deepEqual([used, left, ofOlderBuild].map(existsSync), [true, false, false])
  await rm(used, { recursive: true })
})
