// Asks the person at the terminal.

import { createInterface } from 'node:readline/promises'

/** Undefined when no person sits at a terminal. Rejects at Ctrl+C. */
export async function askPerson(question: string, stopped: AbortSignal): Promise<string | undefined> {
  if (!process.stdin.isTTY) return undefined
  using terminal = createInterface({ input: process.stdin, output: process.stdout })
  // While it asks, the interface takes Ctrl+C away from the process.
  terminal.once('SIGINT', () => process.kill(process.pid, 'SIGINT'))
  return await terminal.question(question, { signal: stopped })
}
