// Creates the logger: JSON lines or readable text. Fields that could carry a secret are blanked.

import { pino } from 'pino'
import type { DestinationStream, Logger } from 'pino'
import { PinoPretty } from 'pino-pretty'
import { tapLog } from './log-tap.ts'
import type { LoggedWarning, LogTap, WarningListener } from './log-tap.ts'

export type Log = Logger
export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'silent'
type LogFormat = 'pretty' | 'json'

const secretFields = new Set([
  'authorization',
  'token',
  'secret',
  'password',
  'downstream_api_token',
  'webhook_hmac_secret',
  'encryption_key',
  'connectionString',
])
/** How deep fields are searched for secrets. */
const levels = 3
const blanked = '[redacted]'

type Options = {
  level: LogLevel
  format: LogFormat
  /** Where lines go; standard output unless a test listens. */
  destination?: DestinationStream
}

/** The tap of every log. A log is created before the application and is passed on as a plain logger. */
const taps = new WeakMap<Log, LogTap>()

export function createLog({ level, format, destination }: Options): Log {
  const options = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    serializers: { err: describeError },
    // For the bindings of child loggers.
    redact: { paths: [...secretFields], censor: blanked },
    // Paths with wildcards would make every line several times as expensive.
    formatters: { log: blankSecrets },
  }
  // Synchronous on purpose: the lines just before a crash are the ones that matter.
  const plain = destination ?? pino.destination({ dest: 1, sync: true })
  const tap = tapLog(format === 'pretty' ? PinoPretty({ destination: plain as never, sync: true }) : plain)
  const log = pino(options, tap.destination)
  taps.set(log, tap)
  return log
}

/** Calls the listener for every line of level warn or above of this log and its children; returns how to stop. */
export function listenToWarnings(log: Log, listener: WarningListener): () => void {
  return tapOf(log).listen(listener)
}

/** The last 200 lines of level warn or above of this log and its children, newest first. */
export function recentWarnings(log: Log): LoggedWarning[] {
  return tapOf(log).recent()
}

/** Writes a line of JSON that another process of the service has logged. That process has blanked secrets already. */
export function passOn(log: Log, line: string): void {
  tapOf(log).destination.write(line)
}

function tapOf(log: Log): LogTap {
  const tap = taps.get(log)
  if (!tap) throw new Error('only a log of createLog can be listened to, and no child of it')
  return tap
}

function blankSecrets(fields: Record<string, unknown>): Record<string, unknown> {
  return blank(fields, 1) as Record<string, unknown>
}

/** Returns a copy when there is something to blank, else the value itself. */
function blank(value: unknown, level: number): unknown {
  if (level > levels || typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return value
  let copy: Record<string, unknown> | undefined
  for (const name of Object.keys(value)) {
    const inner = (value as Record<string, unknown>)[name]
    const shown = secretFields.has(name) ? blanked : name === 'err' ? inner : blank(inner, level + 1)
    if (shown === inner) continue
    copy ??= (Array.isArray(value) ? [...(value as unknown[])] : { ...value }) as Record<string, unknown>
    copy[name] = shown
  }
  return copy ?? value
}

/** Only the fields that name the failure: libraries attach whole messages, numbers and connections to their errors. */
function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return String(error)
  const { name, message, stack, cause } = error
  const code = 'code' in error && typeof error.code !== 'object' ? { code: error.code } : {}
  return { type: name, message, stack, ...code, ...(cause !== undefined && { cause: describeError(cause) }) }
}
