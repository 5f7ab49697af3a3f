// Growing pauses between attempts, each a little different so that many callers do not knock together.

type Options = { firstMs: number; ceilingMs: number; random?: () => number }

/** The pause before attempt number `failures` + 1: doubles from the first to the ceiling, then ±20 %. */
export function backoffMs(failures: number, { firstMs, ceilingMs, random = Math.random }: Options): number {
  const grown = Math.min(ceilingMs, firstMs * 2 ** Math.min(failures, 30))
  return Math.round(grown * (0.8 + 0.4 * random()))
}
