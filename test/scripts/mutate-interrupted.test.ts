// A mutation run that is interrupted leaves no copies of the tree behind.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { waitUntil } from '../harness/wait-until.ts'

test('an interrupted run prints what it has tried, and removes its copies', async () => {
  await using owned = new AsyncDisposableStack()
  const directory = await mkdtemp(join(tmpdir(), 'causeway-'))
  owned.defer(() => rm(directory, { recursive: true, force: true }))
  const copies = () => readdirSync(directory).filter((name) => name.startsWith('causeway-mutants-'))
  const run = spawn(process.execPath, ['scripts/mutate.ts', 'bridge'], {
    env: { ...process.env, TMPDIR: directory, TEST_ENGINES: 'sqlite' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  owned.defer(() => void run.kill('SIGKILL'))
  const exited = once(run, 'exit')
  const printed = run.stdout.setEncoding('utf8').toArray() as Promise<string[]>
  // The link to node_modules comes last.
  await waitUntil('a copy is complete', () =>
    copies().some((name) => existsSync(join(directory, name, 'node_modules'))),
  )
  run.kill('SIGINT')
  const [code] = (await exited) as [number | null]
  assert.equal(code, 130)
  assert.deepEqual(copies(), [])
  assert.match((await printed).join(''), /"scores"/)
})
