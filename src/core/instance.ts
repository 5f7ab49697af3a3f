// The states of a linked account, the table of transitions between them, and the rule for its name.

import type { LifecycleEvent } from './lifecycle/lifecycle.ts'

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

/** A later end of a ban is not believed: a wrong number must not stop an account for ever. */
export const longestBanMs = 90 * 24 * 3_600_000
/** How long a ban lasts if its end is not known. */
export const unknownBanMs = 3_600_000

/**
 * The triggers:
 * pair        a pairing was opened on request
 * window_over the pairing ended unscanned
 * scanned     the phone linked the account
 * reverted    the network does not know that link: the session before is opened again
 * boot        the process started: with a stored session, with one that must wait for the end of a ban, or without one
 * attempt     a connection with the stored session is being opened
 * reopen      the same session is opened anew on request
 * authenticated, drained   logged in; the backlog of the time away is handled
 * dropped     the connection ended and will be tried again
 * invalidated the session is worthless: logged out on either side, or banned
 */
export type InstanceTrigger =
  | 'pair'
  | 'window_over'
  | 'scanned'
  | 'reverted'
  | 'boot_linked'
  | 'boot_banned'
  | 'boot_unlinked'
  | 'attempt'
  | 'reopen'
  | 'authenticated'
  | 'drained'
  | 'dropped'
  | 'invalidated'

/** The reason of a change that has no failure as its reason. */
export const reasonOfTrigger: Record<InstanceTrigger, string> = {
  pair: 'a pairing was opened',
  window_over: 'the pairing ended',
  scanned: 'the phone linked the account',
  reverted: 'the session before is used again',
  boot_linked: 'the service started',
  boot_banned: 'the service started, and the ban of the account is not over yet',
  boot_unlinked: 'the service started, and the account has no session',
  attempt: 'the next attempt to connect begins',
  reopen: 'a restart was asked for',
  authenticated: 'logged in',
  drained: 'all messages of the time away are received',
  dropped: 'the connection ended',
  invalidated: 'the session is not valid any more',
}

type Step = { from: readonly InstanceState[]; to: InstanceState; event?: LifecycleEvent }

const any = instanceStates

/** The first row that fits decides; a trigger without a fitting row changes nothing. */
export const transitions: Record<InstanceTrigger, readonly Step[]> = {
  pair: [{ from: ['logged_out', 'disconnected', 'connecting', 'qr_pending'], to: 'qr_pending' }],
  window_over: [{ from: ['qr_pending'], to: 'disconnected' }],
  scanned: [{ from: any, to: 'paired', event: 'paired' }],
  reverted: [{ from: any, to: 'connecting' }],
  boot_linked: [{ from: any, to: 'connecting' }],
  boot_banned: [{ from: any, to: 'disconnected' }],
  boot_unlinked: [{ from: any.filter((state) => state !== 'logged_out'), to: 'disconnected' }],
  attempt: [{ from: ['disconnected'], to: 'connecting' }],
  reopen: [{ from: ['ready', 'connected', 'connecting', 'disconnected'], to: 'connecting' }],
  authenticated: [
    { from: ['paired'], to: 'ready' },
    { from: ['connecting', 'disconnected', 'qr_pending'], to: 'connected' },
  ],
  drained: [{ from: ['connected'], to: 'ready' }],
  dropped: [
    { from: ['ready', 'connected'], to: 'disconnected', event: 'disconnected' },
    { from: ['connecting'], to: 'disconnected' },
  ],
  invalidated: [{ from: any, to: 'logged_out', event: 'logged_out' }],
}

export function stepFor(state: InstanceState, trigger: InstanceTrigger): Step | undefined {
  return transitions[trigger].find(({ from }) => from.includes(state))
}

/** Also keeps names safe in URLs, logs and metrics; `bulk` is taken by a route. */
export const instanceNamePattern = '^(?!bulk$)[A-Za-z0-9][A-Za-z0-9._-]{0,63}$'

/** Whether the account has an open, authenticated connection. */
export function isActive(state: InstanceState): boolean {
  return state === 'connected' || state === 'ready'
}
