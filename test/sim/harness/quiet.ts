// Keeps the client library quiet and lets its processes end: it prints keys and leaves timers behind.
const { console: terminal } = globalThis
for (const name of ['debug', 'info', 'log', 'warn', 'error'] as const) terminal[name] = () => undefined

// The library does not always clear the time limits of a prekey upload (30 s), of a placeholder (8 s), of a pause in history
// (120 s) and of queries under way when its socket ended (60 s); each would keep a finished test process waiting.
const LEFT_BEHIND = new Set([8_000, 30_000, 60_000, 120_000])
const original = globalThis.setTimeout
const lenient = (callback: (...args: unknown[]) => void, ms?: number, ...args: unknown[]): NodeJS.Timeout => {
  const timer = original(callback, ms, ...args)
  return LEFT_BEHIND.has(ms ?? 0) ? timer.unref() : timer
}
globalThis.setTimeout = Object.assign<object, typeof setTimeout>(lenient, original)
