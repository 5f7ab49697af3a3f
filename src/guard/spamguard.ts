// The same message twice in a row to the same person: recognised by what is left of it without case, spaces and marks.

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

/** Null when the message is too short to be judged. Files of the same text make another message. */
export function fingerprintOf(text: string, files: readonly { fileName: string | null; size: number | null }[]) {
  const normal = normaliseForSpamguard(text)
  if (Array.from(normal).length < spamguardMinChars) return null
  const named = files.map(({ fileName, size }) => [fileName, size])
  return hash('sha256', JSON.stringify([normal, named]), 'base64url')
}

/** `previous` is the last message to the same chat that was sent or is going to be. */
export function isRepeated(
  fingerprint: string | null,
  previous: { fingerprint: string | null; at: number } | undefined,
  now: number,
): boolean {
  return fingerprint !== null && previous?.fingerprint === fingerprint && now - previous.at < spamguardWindowMs
}
