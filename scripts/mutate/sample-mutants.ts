// Draws mutants at random, always the same ones for the same seed. The files take turns, so a long file does not fill the sample.

import type { Mutant } from './find-mutants.ts'

export function sampleMutants(mutants: readonly Mutant[], count: number, seed: number): Mutant[] {
  const random = randomFrom(seed)
  const files = [...Map.groupBy(mutants, ({ file }) => file).values()].map((each) => shuffled(each, random))
  const drawn: Mutant[] = []
  for (let turn = 0; drawn.length < Math.min(count, mutants.length); turn++) {
    drawn.push(...shuffled(files, random).flatMap((each) => each[turn] ?? []))
  }
  return drawn.slice(0, count)
}

function shuffled<T>(values: readonly T[], random: () => number): T[] {
  return values
    .map((value) => ({ value, place: random() }))
    .sort((a, b) => a.place - b.place)
    .map(({ value }) => value)
}

/** The generator mulberry32. */
function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
