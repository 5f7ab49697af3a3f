// A process that owns the accounts and writes with ten writers at once; made to be stopped in the middle of its writes.
// Arguments: database URL, and "slow" for writes that hold the lock of SQLite nearly all the time.

import { databaseUrl } from '../../src/config/setting-formats.ts'
import type { DestinationKey } from '../../src/core/ids.ts'
import { isDeadOwner, newOwnerName } from '../../src/instances/owner-name.ts'
import { Ownership } from '../../src/instances/ownership.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { createLog } from '../../src/lib/log.ts'
import { openDatabase } from '../../src/storage/database.ts'
import { FencedWriter } from '../../src/storage/stores/fenced-writer.ts'
import { LeaseStore } from '../../src/storage/stores/lease-store.ts'

const writers = 10

const [url = '', mode] = process.argv.slice(2)
const location = databaseUrl.parse(url)
if (!location) throw new Error(`${url} is no database`)
const log = createLog({ level: 'info', format: 'json' })
const database = await openDatabase({ location, encryptionKeys: [], log })
const ownership = new Ownership({
  owner: newOwnerName(),
  isDead: isDeadOwner,
  leases: new LeaseStore(database),
  clock: systemClock,
  log,
  onLost: (reason) => {
    console.error(reason.message)
    process.exit(1)
  },
})
await ownership.acquire()
const fenced = new FencedWriter(database, () => ownership.epoch)

const slow = 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300000) SELECT max(i) FROM n'

async function writeOne(writer: number, count: number): Promise<void> {
  const steps = mode === 'slow' ? [{ sql: slow, parameters: [] }] : []
  const written = database.query
    .insertInto('first_callbacks')
    .values({ destination: `writer ${writer}` as DestinationKey, heard_at: count })
    .onConflict((conflict) => conflict.column('destination').doUpdateSet({ heard_at: count }))
  await fenced.write(written, ...steps)
}

async function writeForever(writer: number): Promise<void> {
  for (let count = 0; ; count++) {
    await writeOne(writer, count).catch((err: unknown) => {
      log.warn({ err }, 'a write failed')
    })
    if (count === 20) log.info({ writer }, 'writing')
  }
}

log.info({}, 'service ready')
await Promise.all(Array.from({ length: writers }, (_, writer) => writeForever(writer)))
