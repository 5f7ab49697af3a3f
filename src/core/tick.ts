// How far a sent message has come, as the phones report it. A tick never goes back.

/**
 * delivered  a device of the recipient has the message
 * read       the recipient has seen it, or has listened to it
 * Null stands for a message that was only sent.
 */
export type Tick = 'delivered' | 'read'

/** No attempt to tell the helpdesk of a tick is put off for longer. */
export const longestTickPauseMs = 5 * 60_000

const ranks = { delivered: 1, read: 2 } as const

export function isHigher(tick: Tick | null, other: Tick | null): boolean {
  return rankOf(tick) > rankOf(other)
}

export function highestTick(ticks: readonly (Tick | null)[]): Tick | null {
  return ticks.reduce((high, tick) => (isHigher(tick, high) ? tick : high), null)
}

/** A message of several parts has come as far as its last part. */
export function lowestTick(ticks: readonly (Tick | null)[]): Tick | null {
  const [first = null, ...rest] = ticks
  return rest.reduce((low, tick) => (isHigher(low, tick) ? tick : low), first)
}

function rankOf(tick: Tick | null): number {
  return tick === null ? 0 : ranks[tick]
}
