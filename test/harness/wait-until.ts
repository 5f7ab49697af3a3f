// The one way tests wait for something that happens by itself: named, bounded, and telling what came instead.

/** Only a hang takes longer, also on a machine whose cores are kept busy by others. */
const defaultTimeoutMs = 60_000

type Options = { timeoutMs?: number; instead?: () => unknown }

export async function waitUntil(
  what: string,
  holds: () => boolean | Promise<boolean>,
  { timeoutMs = defaultTimeoutMs, instead }: Options = {},
): Promise<void> {
  const giveUpAt = performance.now() + timeoutMs
  while (!(await holds())) {
    if (performance.now() > giveUpAt) {
      const found = instead ? `; instead: ${JSON.stringify(instead())}` : ''
      throw new Error(`waited ${timeoutMs} ms until ${what}${found}`)
    }
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}
