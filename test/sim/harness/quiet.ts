// Silences the client library, which prints keys, and stops the timers it leaves behind, so that test processes end.
const { console: terminal } = globalThis
for (const name of ['debug', 'info', 'log', 'warn', 'error'] as const) terminal[name] = () => undefined

// The library does not always clear the time limits of a prekey upload (30 s), a placeholder (8 s), a pause in history
// (120 s) and queries that were open when the socket ended (60 s). Each would keep a finished test process alive.
const LEFT_BEHIND = new Set([8_000, 30_000, 60_000, 120_000])
const original = globalThis.setTimeout
const lenient = (callback: (...args: unknown[]) => void, ms?: number, ...args: unknown[]): NodeJS.Timeout => {
  const timer = original(callback, ms, ...args)
  return LEFT_BEHIND.has(ms ?? 0) ? timer.unref() : timer
}
globalThis.setTimeout = Object.assign<object, typeof setTimeout>(lenient, original)
