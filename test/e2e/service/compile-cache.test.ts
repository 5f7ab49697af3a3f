// What Node has compiled outlives a kill -9, so that the start after it is a fast one.

import assert from 'node:assert/strict'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { ServiceProcess } from '../../harness/service-process.ts'
import { waitUntil } from '../../harness/wait-until.ts'

test('a service that is killed after its start has kept what Node has compiled', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'causeway-compiled-'))
  const compiled = join(folder, 'compiled')
  try {
    const place = { HOST: '127.0.0.1', DATABASE_URL: `file:${join(folder, 'service.db')}` }
    await using service = new ServiceProcess({ ...place, NODE_COMPILE_CACHE: compiled }, folder)
    await service.ready()
    const kept = () => readdir(compiled, { recursive: true })
    await waitUntil('the compiled files are kept', async () => (await kept()).length > 500)
    service.send('SIGKILL')
    assert.deepEqual(await service.exited(), { code: null, signal: 'SIGKILL' })
    assert.ok((await kept()).length > 500)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})
