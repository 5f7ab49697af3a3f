// A process that owns the accounts and writes with ten writers at once; made to be stopped in the middle of its writes.
// Argument: database URL.

import { databaseUrl } from '../../src/config/setting-formats.ts'
import type { DestinationKey } from '../../src/core/ids.ts'
import type { Holds } from '../../src/core/nodes/hold.ts'
import { Ownership } from '../../src/instances/ownership.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { createLog } from '../../src/lib/log.ts'
import { Membership } from '../../src/nodes/membership/membership.ts'
import { isDeadOwner, newOwnerName } from '../../src/nodes/owner-name.ts'
import { openDatabase } from '../../src/storage/database.ts'
import { FencedWriter } from '../../src/storage/stores/fenced-writer.ts'
import { LeaseStore } from '../../src/storage/stores/lease-store.ts'
import { AssignmentStore } from '../../src/storage/stores/nodes/assignment-store.ts'
import { NodeStore } from '../../src/storage/stores/nodes/node-store.ts'

const writers = 10

const [, , url = ''] = process.argv
const location = databaseUrl.parse(url)
if (!location) throw new Error(`${url} is no database`)
const log = createLog({ level: 'info', format: 'json' })
const database = await openDatabase({ location, encryptionKeys: [], log })
const shared = { isDead: isDeadOwner, clock: systemClock, log }

function end(reason: Error): void {
  process.stderr.write(`${reason.message}\n`)
  process.exit(1)
}

async function acquireLease(): Promise<Holds['nodeHold']> {
  const leases = new LeaseStore(database)
  const ownership = new Ownership({ ...shared, owner: newOwnerName(), leases, onLost: end })
  await ownership.acquire()
  return ownership.nodeHold
}

/** Becomes a node that runs alone and holds no instance. */
async function join(): Promise<Holds['nodeHold']> {
  const nothing = () => Promise.resolve()
  const membership = new Membership({
    ...shared,
    node: { name: newOwnerName(), address: '', build: '1', protocol: 1, settingsHash: '', capacity: 100 },
    tables: { nodes: new NodeStore(database), assignments: new AssignmentStore(database) },
    peers: { renewed: () => Promise.resolve(undefined), look: nothing },
    holder: {
      ...{ take: nothing, lose: nothing, isolated: () => undefined },
      giveAway: () => Promise.resolve('not_now'),
    },
    inherit: () => [],
    listener: { onSettings: () => undefined, onSetBack: () => undefined, onFatal: end },
  })
  await membership.join()
  return () => membership.nodeHold
}

const nodeHold = await (location.engine === 'postgres' ? join() : acquireLease())
const fenced = new FencedWriter(database, nodeHold)

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
