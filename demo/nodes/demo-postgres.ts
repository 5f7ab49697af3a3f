// The PostgreSQL that the nodes of the demo share, in the folder of the demo.

import { chmod } from 'node:fs/promises'
import { join } from 'node:path'
import { importEmbeddedPostgres } from '../../sim/embedded-postgres.ts'

const access = { user: 'demo', password: 'demo' }

/** Returns the address of the database. The end of the demo stops the server. */
export async function startPostgres(directory: string, port: number, end: AsyncDisposableStack): Promise<string> {
  const EmbeddedPostgres = await importEmbeddedPostgres()
  const isRoot = process.getuid?.() === 0
  // PostgreSQL refuses to run as root. The user that runs it instead must reach its folder inside of this one.
  if (isRoot) await chmod(directory, 0o711)
  const server = new EmbeddedPostgres({
    ...access,
    ...{ databaseDir: join(directory, 'postgres'), port, persistent: false, createPostgresUser: isRoot },
    initdbFlags: ['--encoding=UTF8', '--locale=C', '--no-sync'],
    // The demo survives no loss of power, so nothing is gained by waiting for the disk.
    postgresFlags: ['-c', 'fsync=off', '-c', 'listen_addresses=127.0.0.1'],
    onLog: () => undefined,
    onError: () => undefined,
  })
  await server.initialise()
  end.defer(() => server.stop())
  await server.start()
  return `postgres://${access.user}:${access.password}@127.0.0.1:${port}/postgres`
}
