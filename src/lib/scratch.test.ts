import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { clearScratch, makeScratch } from './scratch.ts'

test('directories of killed processes are removed; those of a running one stay', async () => {
  const { pid: dead } = spawnSync(process.execPath, ['--version'])
  const left = join(tmpdir(), `causeway-scratch-${dead}-abcdef`)
  const used = join(tmpdir(), `causeway-scratch-${process.ppid}-abcdef`)
  for (const directory of [left, used]) {
    await mkdir(directory, { recursive: true })
    await writeFile(join(directory, 'file'), 'x')
  }
  const earlier = await makeScratch()
  await clearScratch()
  assert.deepEqual([left, used, earlier].map(existsSync), [false, true, false])
  await rm(used, { recursive: true })
})
