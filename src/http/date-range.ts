// Reads ranges of days or months from query parameters, with the defaults of the API.

import { BridgeError } from '../core/errors.ts'

type Given = { from?: string; to?: string }
type Range = { from: string; to: string }

/** Days as YYYY-MM-DD; by default the 30 days that end today, or at `to`. */
export function dayRange(given: Given, now: number): Range {
  refuseUnknown(given, (day) => dayOf(startOf(day)))
  const to = given.to ?? dayOf(now)
  const from = given.from ?? dayOf(startOf(to) - 29 * 86_400_000)
  return inOrder({ from, to })
}

/** Months as YYYY-MM; by default the 3 calendar months that end with this one, or with `to`. */
export function monthRange(given: Given, now: number): Range {
  refuseUnknown(given, (month) => monthOf(startOf(`${month}-01`)))
  const to = given.to ?? monthOf(now)
  const start = new Date(startOf(`${to}-01`))
  const from = given.from ?? monthOf(Date.UTC(start.getUTCFullYear(), start.getUTCMonth() - 2))
  return inOrder({ from, to })
}

// Nothing was counted before 1970, and Date reads years of two digits as the 20th century.
function refuseUnknown({ from, to }: Given, normalise: (text: string) => string): void {
  for (const [name, text] of Object.entries({ from, to })) {
    if (text === undefined) continue
    if (text < '1970' || normalise(text) !== text) {
      throw new BridgeError('SERVICE_BAD_REQUEST', `${name}=${text} is not in the calendar from 1970 on`)
    }
  }
}

function inOrder({ from, to }: Range): Range {
  if (from > to) throw new BridgeError('SERVICE_BAD_REQUEST', `from=${from} lies after to=${to}`)
  return { from, to }
}

function startOf(day: string): number {
  const start = Date.parse(`${day}T00:00:00.000Z`)
  if (Number.isNaN(start)) throw new BridgeError('SERVICE_BAD_REQUEST', `${day} is not in the calendar`)
  return start
}

function dayOf(at: number): string {
  return new Date(at).toISOString().slice(0, 10)
}

function monthOf(at: number): string {
  return new Date(at).toISOString().slice(0, 7)
}
