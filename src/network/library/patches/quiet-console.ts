// Drops what the Signal library prints (it prints private keys of sessions) and nothing else.

const printer = /[\\/]node_modules[\\/]libsignal[\\/]/
const methods = ['debug', 'error', 'info', 'log', 'warn'] as const
/** The frames of this file and of the caller; more would only cost time. */
const framesLookedAt = 4

export function silenceSignalLibrary(): void {
  const { console: terminal } = globalThis
  for (const method of methods) {
    const print = terminal[method].bind(terminal)
    terminal[method] = (...words: unknown[]) => {
      if (!printer.test(callers())) print(...words)
    }
  }
}

function callers(): string {
  const limit = Error.stackTraceLimit
  Error.stackTraceLimit = framesLookedAt
  const { stack = '' } = new Error()
  Error.stackTraceLimit = limit
  return stack
}
