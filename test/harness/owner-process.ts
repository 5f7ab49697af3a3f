// A process that owns the accounts and writes with ten writers at once; made to be stopped in the middle of its writes.
// Argument: database URL.

import { databaseUrl } from '../../src/config/setting-formats.ts'
import type { DestinationKey } from '../../src/core/ids.ts'
import { isDeadOwner, newOwnerName } from '../../src/nodes/owner-name.ts'
import { Ownership } from '../../src/instances/ownership.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { createLog } from '../../src/lib/log.ts'
import { openDatabase } from '../../src/storage/database.ts'
import { FencedWriter } from '../../src/storage/stores/fenced-writer.ts'
import { LeaseStore } from '../../src/storage/stores/lease-store.ts'

const writers = 10

const [, , url = ''] = process.argv
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
    process.stderr.write(`${reason.message}\n`)
    process.exit(1)
  },
})
await ownership.acquire()
const fenced = new FencedWriter(database, ownership.holdOf)

async function writeOne(writer: number, count: number): Promise<void> {
  const written = database.query
    .insertInto('first_callbacks')
    .values({ destination: `writer ${writer}` as DestinationKey, heard_at: count })
    .onConflict((conflict) => conflict.column('destination').doUpdateSet({ heard_at: count }))
  await fenced.write('a', written)
}

async function writeForever(writer: number): Promise<void> {
  for (let count = 0; ; count++) {
    await writeOne(writer, count).catch((err: unknown) => {
      log.warn({ err }, 'a write failed')
    })
    if (count === 3) log.info({ writer }, 'writing')
  }
}

log.info({}, 'service ready')
await Promise.all(Array.from({ length: writers }, (_, writer) => writeForever(writer)))
