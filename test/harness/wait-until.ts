// The one way tests wait for something that happens by itself: named, bounded, and telling what came instead.

/** Only a hang takes longer, also on a machine whose cores are kept busy by others and whose disk is slow. */
const defaultTimeoutMs = 180_000

// A look over HTTP takes some milliseconds of CPU, which others could use. The longer the wait, the rarer the looks: a wait ends
// at most a twentieth later than it could.
const shortestPauseMs = 5
const longestPauseMs = 25

type Options = { timeoutMs?: number; instead?: () => unknown }

export async function waitUntil(
  what: string,
  holds: () => boolean | Promise<boolean>,
  { timeoutMs = defaultTimeoutMs, instead }: Options = {},
): Promise<void> {
  const since = performance.now()
  while (!(await holds())) {
    const waitedMs = performance.now() - since
    if (waitedMs > timeoutMs) {
      const found = instead ? `; instead: ${JSON.stringify(await instead())}` : ''
      throw new Error(`waited ${timeoutMs} ms until ${what}${found}`)
    }
    const pauseMs = Math.min(Math.max(waitedMs / 20, shortestPauseMs), longestPauseMs)
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
  }
}
