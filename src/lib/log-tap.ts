// Reads along what the log writes: every line of level warn or above goes to the listeners too, for the dashboard.
//
// A listener sees a line as it is written: fields that could carry a secret are blanked already. Lines below the level of
// the log are never written, so listeners do not see them either.

/** Where a log writes its lines. */
type LineWriter = { write(line: string): void }

export type LoggedWarning = {
  /** When the line was written, as ISO text. */
  ts: string
  level: 'warn' | 'error'
  message: string
  /** The instance that the line is about, if it names one. */
  instance: string | null
  /** The other fields of the line. */
  details: Record<string, unknown>
}
export type WarningListener = (warning: LoggedWarning) => void

export type LogTap = {
  /** Where the log writes its lines of JSON. */
  destination: LineWriter
  /** The last 200 warnings, newest first. */
  recent(): LoggedWarning[]
  /** Calls the listener for every new warning; returns how to stop. */
  listen(listener: WarningListener): () => void
}

const mostKept = 200
/** A line is seldom longer than a stack. A longer one is kept without its details. */
const longestKept = 32 * 1024

/** Pino puts the level first. The number tells without parsing whether a line is worth it. */
const warnLevel = 40
const levelOfStart = /^\{"level":([456])0[,}]/

export function tapLog(destination: LineWriter): LogTap {
  const listeners = new Set<WarningListener>()
  /** As written: they are parsed only when a caller asks. */
  const kept: string[] = []
  let isTelling = false
  return {
    destination: {
      write(line) {
        destination.write(line)
        if (!levelOfStart.test(line)) return
        kept.push(line.length > longestKept ? withoutDetails(line) : line)
        if (kept.length > mostKept) kept.shift()
        // A listener that logs a warning must not hear of it: that would never end.
        if (listeners.size === 0 || isTelling) return
        isTelling = true
        tell(listeners, readWarning(line))
        isTelling = false
      },
    },
    recent: () => kept.map(readWarning).reverse(),
    listen(listener) {
      listeners.add(listener)
      return () => {
        listeners.delete(listener)
      }
    },
  }
}

function readWarning(line: string): LoggedWarning {
  const { level, time, msg, instance, ...details } = JSON.parse(line) as Record<string, unknown>
  const name = level === warnLevel ? 'warn' : 'error'
  return { ts: textOf(time), level: name, message: textOf(msg), instance: textOf(instance) || null, details }
}

function withoutDetails(line: string): string {
  const { level, time, msg, instance } = JSON.parse(line) as Record<string, unknown>
  return JSON.stringify({ level, time, msg, instance, details_left_out: line.length })
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** A listener that fails must fail neither the part that logs nor the other listeners. */
function tell(listeners: ReadonlySet<WarningListener>, warning: LoggedWarning): void {
  for (const listener of [...listeners]) {
    try {
      listener(warning)
    } catch {
      // Reporting it would need the log.
    }
  }
}
