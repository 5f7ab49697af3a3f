// Creates the worker that ends imports that no job goes on with. Until then nothing is sent from their conversations.

import { firstSweepMs, Ticker } from '../../lib/ticker.ts'
import type { Holds } from '../../core/nodes/hold.ts'
import type { Database } from '../../storage/database.ts'
import { ImportMarks } from '../../storage/stores/history/import-marks.ts'
import type { Base } from '../base.ts'

const everyMs = 10 * 60_000

export function createImportSweep(
  { clock, log }: Pick<Base, 'clock' | 'log'>,
  { database, holds }: { database: Database; holds: Holds },
): Ticker {
  const marks = new ImportMarks(database)
  const work = () => marks.endAbandoned(holds.nodeHold(), clock.now())
  return new Ticker({ name: 'import-sweep', everyMs, firstMs: firstSweepMs, work, clock, log })
}
