// The token of the API: tells whether a caller has it, and gives the key that signs dashboard sessions.

import { createHash, hkdfSync, timingSafeEqual } from 'node:crypto'

/** The token in the header Authorization; undefined when there is none. */
export function readBearer(authorization: string | undefined): string | undefined {
  return /^bearer +(.+)$/i.exec(authorization ?? '')?.[1]
}

export class ApiToken {
  readonly #digest: Buffer
  /** Another token gives another key, so it ends all dashboard sessions. */
  readonly sessionKey: Buffer

  constructor(token: string) {
    this.#digest = digest(token)
    this.sessionKey = Buffer.from(hkdfSync('sha256', token, '', 'causeway dashboard session', 32))
  }

  matches(given: string): boolean {
    // Digests have one length for every token: timingSafeEqual needs that, and the length of the token stays secret.
    return timingSafeEqual(digest(given), this.#digest)
  }
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
