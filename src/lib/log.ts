// The one logger: JSON lines or readable text, with every field that could carry a secret blanked.

import { pino } from 'pino'
import type { DestinationStream, Logger } from 'pino'
import { PinoPretty } from 'pino-pretty'

export type Log = Logger
export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'silent'
export type LogFormat = 'pretty' | 'json'

const secretFields = [
  'authorization',
  'token',
  'secret',
  'password',
  'downstream_api_token',
  'webhook_hmac_secret',
  'encryption_key',
  'connectionString',
]

type Options = {
  level: LogLevel
  format: LogFormat
  /** Where lines go; standard output unless a test listens. */
  destination?: DestinationStream
}

export function createLog({ level, format, destination }: Options): Log {
  const options = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    serializers: { err: describeError },
    redact: { paths: secretFields.flatMap((field) => [field, `*.${field}`, `*.*.${field}`]), censor: '[redacted]' },
  }
  // Synchronous on purpose: the lines just before a crash are the ones that matter.
  const plain = destination ?? pino.destination({ dest: 1, sync: true })
  return pino(options, format === 'pretty' ? PinoPretty({ destination: plain as never, sync: true }) : plain)
}

/** Only what names the failure: libraries hang whole messages, numbers and connections on their errors. */
function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return String(error)
  const { name, message, stack, cause } = error
  const code = 'code' in error && typeof error.code !== 'object' ? { code: error.code } : {}
  return { type: name, message, stack, ...code, ...(cause !== undefined && { cause: describeError(cause) }) }
}
