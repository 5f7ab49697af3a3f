// Draws the engine on which the tests of a file run in the gate. The store suites run on both engines. An end-to-end test whose
// subject is not the store proves the same on either, so each file runs on one engine, and the long run uses both.

import { createHash } from 'node:crypto'
import type { EngineName } from '../../src/storage/database.ts'
import { engines } from './databases.ts'
import { isLong } from './rounds.ts'

/** The engines for a test file: `drawnEngines(import.meta.url)`. The same file always draws the same engine. */
export function drawnEngines(url: string): readonly EngineName[] {
  return isLong ? engines : [drawFrom(engines, pathOf(url))]
}

/** Any hash will do, as long as it gives each engine about half of the files of every folder. */
function drawFrom(choices: readonly EngineName[], path: string): EngineName {
  const [, drawn = 0] = createHash('sha512').update(path).digest()
  return choices[drawn % choices.length] ?? 'sqlite'
}

/** The path inside the repository, which is the same on every machine. */
function pathOf(url: string): string {
  const root = new URL('../../', import.meta.url).href
  return url.startsWith(root) ? url.slice(root.length) : url
}
