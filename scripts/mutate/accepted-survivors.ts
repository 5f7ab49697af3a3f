// The mutants that no test has to notice, each with its reason, in accepted.json beside this file.

import { readFileSync } from 'node:fs'
import type { Mutant } from './find-mutants.ts'

type AcceptedKey = Pick<Mutant, 'file' | 'inside' | 'before' | 'after'>

export type AcceptedSurvivor = AcceptedKey & { reason: string }

export function readAccepted(): AcceptedSurvivor[] {
  return JSON.parse(readFileSync(new URL('./accepted.json', import.meta.url), 'utf8')) as AcceptedSurvivor[]
}

export function isAccepted(mutant: AcceptedKey, accepted: readonly AcceptedKey[]): boolean {
  return accepted.some(
    ({ file, inside, before, after }) =>
      file === mutant.file && inside === mutant.inside && before === mutant.before && after === mutant.after,
  )
}
