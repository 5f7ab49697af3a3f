// Process 1 of a container ends at a signal, also while its program still loads. Linux drops a signal for a process 1 that does
// not listen to it, and a container engine would kill the process much later.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { ServiceProcess } from '../../harness/service-process.ts'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const container = ['unshare', '--user', '--map-root-user', '--pid', '--fork', '--kill-child', '--mount-proc']
const skip = spawnSync('unshare', [...container.slice(1), 'true']).status !== 0 && 'unshare: not possible here'

/** A program as process 1, started by the launcher of a project. */
class ProcessOne extends ServiceProcess {
  constructor(project: string, folder: string) {
    const environment = { HOST: '127.0.0.1', DATABASE_URL: `file:${join(folder, 'service.db')}` }
    super(environment, folder, [], [...container, process.execPath, join(project, 'bin/start.cjs')])
  }

  signal(name: NodeJS.Signals): void {
    process.kill(Number(readFileSync(`/proc/${this.pid}/task/${this.pid}/children`, 'utf8')), name)
  }
}

function withFolder(run: (folder: string) => Promise<void>): () => Promise<void> {
  return async () => {
    const folder = mkdtempSync(join(tmpdir(), 'causeway-process-one-'))
    await run(folder).finally(() => {
      rmSync(folder, { recursive: true })
    })
  }
}

describe('process 1', { skip }, () => {
  for (const [name, code] of [['SIGTERM', 143] as const, ['SIGINT', 130] as const]) {
    const ends = withFolder(async (folder) => {
      cpSync(join(root, 'bin'), join(folder, 'bin'), { recursive: true })
      cpSync(join(root, 'package.json'), join(folder, 'package.json'))
      symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
      mkdirSync(join(folder, 'src'))
      // Stands in for a service that is not loaded yet.
      writeFileSync(join(folder, 'src/main.ts'), `console.log('{"msg":"loading"}')\nsetInterval(() => {}, 1000)\n`)
      await using one = new ProcessOne(folder, folder)
      await one.logged('loading')
      one.signal(name)
      assert.deepEqual(await one.exited(), { code, signal: null })
    })
    test(`ends at ${name} while the program loads`, ends)
  }

  const stops = withFolder(async (folder) => {
    await using one = new ProcessOne(root, folder)
    await one.ready()
    one.signal('SIGTERM')
    assert.deepEqual(await one.exited(), { code: 0, signal: null })
  })
  test('stops in order when the service has listeners of its own', stops)
})
