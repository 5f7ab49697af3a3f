// Growing pauses between attempts.

type Growth = { firstMs: number; ceilingMs: number }

/** The pause before attempt number `failures` + 1: doubles from the first to the ceiling. */
export function doubledMs(failures: number, { firstMs, ceilingMs }: Growth): number {
  return Math.min(ceilingMs, firstMs * 2 ** Math.min(failures, 30))
}

/** The same, ±20 %, so that many callers do not repeat their attempts at the same time. */
export function backoffMs(
  failures: number,
  { random = Math.random, ...growth }: Growth & { random?: () => number },
): number {
  return Math.round(doubledMs(failures, growth) * (0.8 + 0.4 * random()))
}
