// Fingerprints of messages, stored beside them so that a repeated message is recognised after its text is deleted.
//
// With an encryption key the fingerprint is keyed: a reader of the database without the key cannot test whether a message had
// a certain text.

import { createHmac, hash } from 'node:crypto'
import { normaliseForSpamguard, spamguardMinChars } from './spamguard.ts'

type Message = {
  content: string
  attachments: readonly { fileName: string | null; size: number | null }[]
}

export class Fingerprints {
  readonly #keys: readonly Uint8Array[]

  /** The first key is used for new fingerprints, all of them for comparing. */
  constructor(encryptionKeys: readonly Uint8Array[]) {
    this.#keys = encryptionKeys.map((key) => createHmac('sha256', key).update('causeway outbox fingerprint').digest())
  }

  /** Of the whole text, however short it is. */
  ofText(text: string): string {
    const [key] = this.#keys
    return key ? keyed(key, text) : plain(text)
  }

  /** Null when the message is too short to be compared. Other files make another message. */
  of(message: Message): string | null {
    const text = comparable(message)
    return text === null ? null : this.ofText(text)
  }

  /** Also for a fingerprint that was stored under an earlier key, or by a build that did not key it. */
  matches(stored: string | null, message: Message): boolean {
    const text = comparable(message)
    return stored === null || text === null ? stored === text : this.matchesText(stored, text)
  }

  /** As `matches`, for a fingerprint of a whole text. */
  matchesText(stored: string, text: string): boolean {
    return this.#keys.some((key) => keyed(key, text) === stored) || plain(text) === stored
  }
}

function comparable({ content, attachments }: Message): string | null {
  const normal = normaliseForSpamguard(content)
  if (Array.from(normal).length < spamguardMinChars) return null
  return JSON.stringify([normal, attachments.map(({ fileName, size }) => [fileName, size])])
}

function keyed(key: Uint8Array, text: string): string {
  return createHmac('sha256', key).update(text).digest('base64url')
}

function plain(text: string): string {
  return hash('sha256', text, 'base64url')
}
