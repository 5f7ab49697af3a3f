// How often a test repeats what it repeats: a few times in the gate, many times in the long run (TEST_LONG=1).

export const isLong = process.env['TEST_LONG'] === '1'

export function rounds({ gate, long }: { gate: number; long: number }): number {
  return isLong ? long : gate
}
