// The mutants that no test has to notice, each with its reason, in accepted.json beside this file.

import { readFileSync } from 'node:fs'
import type { Mutant } from './find-mutants.ts'

export type AcceptedSurvivor = Pick<Mutant, 'file' | 'before' | 'after'> & { reason: string }

export function readAccepted(): AcceptedSurvivor[] {
  return JSON.parse(readFileSync(new URL('./accepted.json', import.meta.url), 'utf8')) as AcceptedSurvivor[]
}

export function isAccepted({ file, before, after }: Mutant, accepted: readonly AcceptedSurvivor[]): boolean {
  return accepted.some((each) => each.file === file && each.before === before && each.after === after)
}
