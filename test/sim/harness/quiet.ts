// Keeps the client library quiet and lets its processes end: it prints keys and leaves timers behind.
const { console: terminal } = globalThis
for (const name of ['debug', 'info', 'log', 'warn', 'error'] as const) terminal[name] = () => undefined

// The library clears neither the time limit of a prekey upload (30 s) nor those of queries that were under way when its
// socket ended (60 s); either would keep a finished test process waiting.
const LEFT_BEHIND = new Set([30_000, 60_000])
const original = globalThis.setTimeout
const lenient = (callback: (...args: unknown[]) => void, ms?: number, ...args: unknown[]): NodeJS.Timeout => {
  const timer = original(callback, ms, ...args)
  return LEFT_BEHIND.has(ms ?? 0) ? timer.unref() : timer
}
globalThis.setTimeout = Object.assign<object, typeof setTimeout>(lenient, original)
