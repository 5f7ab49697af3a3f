// The words for a linked account: its states and the rule for its name.

export const instanceStates = [
  'qr_pending',
  'paired',
  'connecting',
  'connected',
  'ready',
  'disconnected',
  'logged_out',
] as const

export type InstanceState = (typeof instanceStates)[number]

/** Also keeps names safe in URLs, logs and metrics; `bulk` is taken by a route. */
export const instanceNamePattern = '^(?!bulk$)[A-Za-z0-9][A-Za-z0-9._-]{0,63}$'

/** Whether the account has an open, authenticated connection. */
export function isActive(state: InstanceState): boolean {
  return state === 'connected' || state === 'ready'
}
