// Creates the worker that ends imports that no job goes on with. Until then nothing is sent from their conversations.

import { firstSweepMs, Ticker } from '../../lib/ticker.ts'
import type { Database } from '../../storage/database.ts'
import { ImportMarks } from '../../storage/stores/history/import-marks.ts'
import type { Base } from '../base.ts'

const everyMs = 10 * 60_000

export function createImportSweep(
  { clock, log }: Pick<Base, 'clock' | 'log'>,
  { database, epoch }: { database: Database; epoch: () => number },
): Ticker {
  const marks = new ImportMarks(database)
  const work = () => marks.endAbandoned(epoch(), clock.now())
  return new Ticker({ name: 'import-sweep', everyMs, firstMs: firstSweepMs, work, clock, log })
}
