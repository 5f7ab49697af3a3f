// Compares stored times. A clock that was set back leaves times in the future: they count as past by the same distance.

export function isWithin(ms: number, time: number, now: number): boolean {
  return Math.abs(now - time) < ms
}
