// The last error of an instance: people read its sentence, programs decide by its code.

import type { EventExtras } from './lifecycle/lifecycle.ts'
import type { CloseCause, Closing } from './network/closing.ts'
import { writeReason } from './reasons/reason.ts'

export const lastErrorCodes = [
  'passkey_required',
  'version_refused',
  'client_refused',
  'server_not_genuine',
  'network_unreachable',
  'banned',
  'temporary_ban',
  'replaced',
  'logged_out',
  'not_scanned',
  'restarting',
] as const

export type LastErrorCode = (typeof lastErrorCodes)[number]

const codes: Record<CloseCause, LastErrorCode> = {
  invalidated: 'logged_out',
  banned: 'banned',
  temporary_ban: 'temporary_ban',
  client_refused: 'client_refused',
  replaced: 'replaced',
  restart: 'restarting',
  pairing_over: 'not_scanned',
  transient: 'network_unreachable',
}

/** The code of the closing itself, or else the code of its cause. */
export function lastErrorCodeOf({ cause, errorCode }: Closing): LastErrorCode {
  return errorCode ?? codes[cause]
}

/** What the record keeps of the end of a connection. */
export function lastErrorOf(closing: Closing): { lastError: string; lastErrorCode: LastErrorCode } {
  const { reason, unreachable } = closing
  const lastError = unreachable ? writeReason('unreachable', { reason, cure: unreachable.cure }) : reason
  return { lastError, lastErrorCode: lastErrorCodeOf(closing) }
}

/** What subscribers are told of the end of a connection. */
export function reasonOf({ reason, code }: Closing): EventExtras {
  return { reason, code }
}
