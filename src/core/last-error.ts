// The codes that stand beside the last error of an instance. Programs decide by the code, people read the sentence.

import type { CloseCause, Closing } from './network.ts'

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
