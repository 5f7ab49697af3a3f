// Logs for tests: one that says nothing, and one whose lines can be read.

import { createLog } from '../../src/lib/log.ts'
import type { Log, LogLevel } from '../../src/lib/log.ts'

export const silentLog: Log = createLog({ level: 'silent', format: 'json' })

export class RecordedLog {
  readonly lines: string[] = []
  readonly log: Log

  constructor(level: LogLevel = 'trace') {
    this.log = createLog({ level, format: 'json', destination: { write: (line) => this.lines.push(line) } })
  }

  /** The parsed lines with this message. */
  withMessage(message: string): Record<string, unknown>[] {
    return this.lines
      .map((line) => JSON.parse(line) as Record<string, unknown>)
      .filter((line) => line['msg'] === message)
  }
}
