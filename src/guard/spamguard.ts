// Recognises the same message twice in a row to the same chat. Case, spaces and formatting marks do not count.

import { hash } from 'node:crypto'

export const spamguardWindowMs = 30_000
export const spamguardMinChars = 10

export function normaliseForSpamguard(text: string): string {
  return text
    .replace(/[*_~`]/g, '')
    .replace(/\s+/g, ' ')
    .trim()
    .toLowerCase()
}

/** Null when the message is too short to be compared. Other files make another message. */
export function fingerprintOf(text: string, files: readonly { fileName: string | null; size: number | null }[]) {
  const normal = normaliseForSpamguard(text)
  if (Array.from(normal).length < spamguardMinChars) return null
  const named = files.map(({ fileName, size }) => [fileName, size])
  return hash('sha256', JSON.stringify([normal, named]), 'base64url')
}

/** `previous` is the last message to the same chat that was sent or will be sent. */
export function isRepeated(
  fingerprint: string | null,
  previous: { fingerprint: string | null; at: number } | undefined,
  now: number,
): boolean {
  if (fingerprint === null || previous?.fingerprint !== fingerprint) return false
  // A time in the future was stored before the clock was put back.
  return Math.abs(now - previous.at) < spamguardWindowMs
}
