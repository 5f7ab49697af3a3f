// Keeps the salt from which the account makes its tokens for strangers.

import type { KeyChanges } from './account-keys.ts'

/** The salt is kept with the tokens of people, so that a message needs one read for both. No jid has this name. */
export const saltId = '__nct_salt'

/** Null removes the salt. */
export function saltChange(salt: Uint8Array | null): KeyChanges {
  return { tctoken: { [saltId]: salt && salt.length > 0 ? { token: Buffer.from(salt) } : null } }
}
