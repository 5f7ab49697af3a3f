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
  /** Calls the listener for every new warning; returns how to stop. */
  listen(listener: WarningListener): () => void
}

/** Pino puts the level first. The number tells without parsing whether a line is worth it. */
const levelOfStart = /^\{"level":([456])0[,}]/

export function tapLog(destination: LineWriter): LogTap {
  const listeners = new Set<WarningListener>()
  let isTelling = false
  return {
    destination: {
      write(line) {
        destination.write(line)
        // A listener that logs a warning must not hear of it: that would never end.
        if (listeners.size === 0 || isTelling) return
        const level = levelOfStart.exec(line)?.[1]
        if (level === undefined) return
        isTelling = true
        tell(listeners, readWarning(line, level === '4' ? 'warn' : 'error'))
        isTelling = false
      },
    },
    listen(listener) {
      listeners.add(listener)
      return () => {
        listeners.delete(listener)
      }
    },
  }
}

function readWarning(line: string, level: LoggedWarning['level']): LoggedWarning {
  const { time, msg, instance, ...details } = JSON.parse(line) as Record<string, unknown>
  delete details['level']
  return { ts: textOf(time), level, message: textOf(msg), instance: textOf(instance) || null, details }
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
