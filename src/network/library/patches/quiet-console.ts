// Corrects libsignal's printing: it prints whole sessions, with their private keys, to the console.
//
// Upstream: WhiskeySockets/Baileys issues 887 and 888. The patch drops the output of libsignal and nothing else.

const printer = /[\\/]node_modules[\\/]libsignal[\\/]/
const methods = ['debug', 'error', 'info', 'log', 'warn'] as const
/** Enough for the frames of this file and of its caller. More frames only cost time. */
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
