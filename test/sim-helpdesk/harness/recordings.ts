// Reads the recordings of a real Chatwoot 4.14.1 (test/sim-helpdesk/recorded).

import { readFileSync } from 'node:fs'

export type Fields = Record<string, unknown>
export type RecordedRequest = {
  method: string
  path: string
  /** A token in angle brackets, `none`, or any other text for a token that does not exist. */
  auth?: string
  headers?: Record<string, string>
  body?: Fields | string
  multipart?: unknown
}

/** One request with its answer, a callback, or a fact about the requests before it. */
export type Recording = Fields & {
  what: string
  request?: RecordedRequest
  status?: number
  answer?: unknown
  callbacks?: Fields[]
}

/** The files that contain whole callbacks. */
export type RecordingName =
  'callbacks' | 'callback-failures' | 'retry' | 'contacts' | 'conversations' | 'interactive' | 'messages' | 'public-api'

const cut = '…'

export function readRecordings(name: string): Recording[] {
  return JSON.parse(readFileSync(new URL(`../recorded/${name}.json`, import.meta.url), 'utf8')) as Recording[]
}

export function recordingOf(name: RecordingName, what: string): Recording {
  const found = readRecordings(name).find((each) => each.what === what)
  if (!found) throw new Error(`${name}.json has no recording "${what}"`)
  return found
}

/** The body of a callback, or undefined for a recording of something else. */
export function bodyOf(recording: Recording): (Fields & { event: string }) | undefined {
  const { body } = recording
  return isFields(body) && typeof body['event'] === 'string'
    ? (withoutCuts(body) as Fields & { event: string })
    : undefined
}

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function asObject(value: unknown): Fields {
  return isFields(value) ? value : {}
}

export function asList(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}

/** Leaves out what the recorder shortened to "…". */
function withoutCuts(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutCuts)
  if (!isFields(value)) return value
  const kept = Object.entries(value).filter(([key, field]) => key !== cut && field !== cut)
  return Object.fromEntries(kept.map(([key, field]) => [key, withoutCuts(field)]))
}
