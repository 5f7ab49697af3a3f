// What a benchmark is, and how two ways of doing a thing are compared fairly on a noisy machine.

export type Target = { atLeast?: number; atMost?: number }

export type BenchmarkResult = {
  /** What was measured, in the unit the name says. */
  figures: Record<string, number>
  /** Ours against the baseline of the same run. */
  ratios: Record<string, number>
  targets: Record<string, Target>
}

export type Benchmark = { run: () => Promise<BenchmarkResult> }

type Measured = Record<string, number>

/** Runs all ways in turn, round by round, so that a slow moment of the machine hits all of them. */
export async function inTurn<Way extends string>(
  rounds: number,
  ways: Record<Way, () => Promise<Measured>>,
): Promise<Record<Way, Measured[]>> {
  const names = Object.keys(ways) as Way[]
  const collected = Object.fromEntries(names.map((name) => [name, [] as Measured[]])) as Record<Way, Measured[]>
  for (let round = 0; round < rounds; round++) {
    for (const name of names) collected[name].push(await ways[name]())
  }
  return collected
}

/** The same, as medians per figure. */
export async function interleave<Way extends string>(
  rounds: number,
  ways: Record<Way, () => Promise<Measured>>,
): Promise<Record<Way, Measured>> {
  const collected = await inTurn(rounds, ways)
  const names = Object.keys(ways) as Way[]
  return Object.fromEntries(names.map((name) => [name, medians(collected[name])])) as Record<Way, Measured>
}

/** The median of the ratios of neighbours, who had the same machine; that of two medians can come from different moments. */
export function medianRatio(some: readonly Measured[], others: readonly Measured[], figure: string): number {
  return median(some.map((each, index) => (each[figure] ?? NaN) / (others[index]?.[figure] ?? NaN)))
}

export function round(value: number, digits = 3): number {
  return Number(value.toPrecision(digits))
}

export function medians(all: readonly Measured[]): Measured {
  const keys = Object.keys(all[0] ?? {})
  return Object.fromEntries(keys.map((key) => [key, median(all.map((each) => each[key] ?? NaN))]))
}

/** So many of the values are not higher: 0.99 of them, for example. */
export function percentile(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.ceil(share * values.length) - 1] ?? NaN
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  const upper = sorted[middle] ?? NaN
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? NaN)) / 2
}
