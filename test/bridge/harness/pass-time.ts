// Lets time pass in a bed whose clock stands still and whose database is real.

import type { Database } from '../../../src/storage/database.ts'
import type { ManualClock } from '../../harness/manual-clock.ts'

type Bed = { clock: ManualClock; database: Database }

/** Time passes, and storage gets the chance to answer before and after. */
export async function passTime(bed: Bed, ms: number): Promise<void> {
  await settle(bed)
  await bed.clock.advance(ms)
  await settle(bed)
}

/** Several rounds through storage, so that everything has happened that can happen without time passing. */
export async function settle({ database }: Pick<Bed, 'database'>, rounds = 6): Promise<void> {
  const ping = database.query.selectFrom('lease').select('epoch')
  for (let round = 0; round < rounds; round++) {
    await database.read(ping)
    await database.write(ping)
    await new Promise((resolve) => setImmediate(resolve))
  }
}
