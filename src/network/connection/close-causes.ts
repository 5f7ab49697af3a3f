// Explains why a connection ended: turns the library's error into a closing of the service.

import type { Closing, CloseCause } from '../../core/network.ts'
import type { Clock } from '../../lib/clock.ts'

type Meaning = { cause: CloseCause; reason: string }
/** `isOfferUsedUp`: all codes of a pairing were shown, and none was scanned. */
type Circumstances = { isOfferUsedUp: boolean; isProxied: boolean }
/** The error that the library closes with. */
type LibraryError = Error & { output?: { statusCode?: number }; data?: unknown }

const meanings: Record<number, Meaning> = {
  401: { cause: 'invalidated', reason: 'the device was removed from the account or logged out: pair it again' },
  402: { cause: 'temporary_ban', reason: 'the account is banned for a time' },
  403: { cause: 'banned', reason: 'the account is locked or its phone is gone: look at the phone' },
  405: {
    cause: 'client_refused',
    reason: 'the network no longer accepts this protocol version: update the service or set SERVICE_NETWORK_VERSION',
  },
  406: { cause: 'banned', reason: 'the account is banned: look at the phone' },
  409: {
    cause: 'client_refused',
    reason: 'the network does not accept this client as it introduces itself: update the service',
  },
  411: {
    cause: 'client_refused',
    reason: 'the phone and the network disagree about linked devices: update the app on the phone, then restart',
  },
  440: { cause: 'replaced', reason: 'another client opened the same session' },
  500: { cause: 'transient', reason: 'the network reports an internal error' },
  503: { cause: 'transient', reason: 'the network is not available' },
  515: { cause: 'restart', reason: 'the network asks to connect again' },
}

const banReasons: Record<string, string> = {
  101: 'too many messages to people who do not know this number',
  102: 'too many people blocked this number',
  103: 'too many groups with people who do not know this number',
  104: 'the same message to too many people',
  106: 'too many broadcasts',
}

/** Only errors with these texts carry a code of the network. The library makes up the other codes. */
const sentByNetwork = /^(?:Stream Errored|Connection Failure|Multi-device)/
const pairingOver = /^QR refs attempts ended/

export const passkeyClosing: Closing = {
  cause: 'client_refused',
  code: null,
  reason:
    'this account is protected by a passkey, which linking from here does not support: remove it on the phone, then pair again',
}

export function closingOf(error: LibraryError | undefined, clock: Pick<Clock, 'now'>): Closing {
  if (!error) return { cause: 'transient', code: null, reason: 'the connection was closed' }
  if (pairingOver.test(error.message)) return pairingOverClosing
  if (!sentByNetwork.test(error.message)) return brokenClosing(error)
  const code = codeOf(error)
  const meaning = meanings[code] ?? {
    cause: 'transient',
    reason: `the network closed the connection with code ${code}`,
  }
  return code === 402 ? temporaryBan(error, meaning, clock) : { ...meaning, code }
}

/** A server that hangs up after the last code means the same as the last code expiring. */
export function explained(closing: Closing, { isOfferUsedUp, isProxied }: Circumstances): Closing {
  if (closing.cause !== 'transient' || closing.code !== null) return closing
  if (isOfferUsedUp) return pairingOverClosing
  return isProxied ? { ...closing, reason: `${closing.reason}, through the proxy` } : closing
}

const pairingOverClosing: Closing = {
  cause: 'pairing_over',
  code: null,
  reason: 'no phone scanned a code in time: ask for a new one',
}

function codeOf(error: LibraryError): number {
  const { type } = attributesOf(error)
  // The network reports a removed device as a conflict, like a replaced session.
  return type === 'device_removed' ? 401 : (error.output?.statusCode ?? 500)
}

function temporaryBan(error: LibraryError, meaning: Meaning, clock: Pick<Clock, 'now'>): Closing {
  const { code = '', expire } = attributesOf(error)
  const why = banReasons[code]
  const seconds = Number(expire)
  const closing: Closing = {
    cause: meaning.cause,
    code: 402,
    reason: why ? `${meaning.reason}: ${why}` : meaning.reason,
  }
  return Number.isFinite(seconds) && seconds > 0 ? { ...closing, until: clock.now() + seconds * 1000 } : closing
}

function brokenClosing(error: LibraryError): Closing {
  const { code } = (error.data ?? {}) as { code?: unknown }
  const detail = typeof code === 'string' ? code : error.message
  return { cause: 'transient', code: null, reason: `the connection broke (${detail})` }
}

/** The library attaches the attributes of a refusal, or the whole node of a stream error. */
function attributesOf(error: LibraryError): Record<string, string | undefined> {
  const data = (error.data ?? {}) as { attrs?: Record<string, string> }
  return data.attrs ?? (data as Record<string, string>)
}
