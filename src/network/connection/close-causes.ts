// Explains why a connection ended: turns the library's error into a closing of the service.

import type { Closing, CloseCause } from '../../core/network/closing.ts'
import { writeReason } from '../../core/reasons/reason.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Refusal } from '../version/client-version.ts'
import { brokenReason, causeOfErrorCode, unreachableOn } from './unreachable.ts'
import type { Way } from './unreachable.ts'

type Meaning = Pick<Closing, 'reason' | 'errorCode' | 'unreachable'> & { cause: CloseCause }
/** `isOfferUsedUp`: all codes of a pairing were shown, and none was scanned. */
type Circumstances = Way & { isOfferUsedUp: boolean }
/** The error that the library closes with. */
type LibraryError = Error & { output?: { statusCode?: number }; data?: unknown }

/** The way that is assumed until the circumstances are known. */
const directWay: Way = { proxyHost: undefined, isElsewhere: false }
const away = unreachableOn(directWay, 'away')
const broken = unreachableOn(directWay, 'broken')

/** The code with which the network refuses a client version. */
export const versionRefused = 405

const meanings: Record<number, Meaning> = {
  [versionRefused]: { cause: 'client_refused', reason: writeReason('versionRefused'), errorCode: 'version_refused' },
  401: { cause: 'invalidated', reason: writeReason('deviceRemoved') },
  402: { cause: 'temporary_ban', reason: writeReason('bannedForTime') },
  403: { cause: 'banned', reason: writeReason('accountLocked') },
  406: { cause: 'banned', reason: writeReason('banned') },
  409: {
    cause: 'client_refused',
    reason: writeReason('clientRefused'),
  },
  411: {
    cause: 'client_refused',
    reason: writeReason('devicesDisagree'),
  },
  440: { cause: 'replaced', reason: writeReason('replaced') },
  500: { cause: 'transient', reason: writeReason('networkFailed'), unreachable: away },
  503: { cause: 'transient', reason: writeReason('networkAway'), unreachable: away },
  515: { cause: 'restart', reason: writeReason('restartAsked') },
}

const banReasons: Record<string, string> = {
  101: writeReason('strangers'),
  102: writeReason('blockedByMany'),
  103: writeReason('groupsOfStrangers'),
  104: writeReason('sameMessage'),
  106: writeReason('broadcasts'),
}

const versionReasons: Record<Refusal, string> = {
  another: writeReason('versionReplaced'),
  none: writeReason('versionRefused'),
  pinned: writeReason('versionPinned'),
}

/** The errors of a server that cannot prove that it has the key of its certificate. */
const notGenuine = /^(?:invalid noise|noise (?:intermediate )?certificate|certification match|foreign certificate)/
/** What a server says that is not the network's, or a proxy that refuses to connect. */
const statusOfOther = /^status \d+$/
/** Only errors with these texts carry a code of the network. The library makes up the other codes. */
const sentByNetwork = /^(?:Stream Errored|Connection Failure|Multi-device)/
const pairingOver = /^QR refs attempts ended/

export const passkeyClosing: Closing = {
  cause: 'client_refused',
  code: null,
  reason: writeReason('passkey'),
  errorCode: 'passkey_required',
}

export function refusedVersionClosing(refusal: Refusal): Closing {
  return {
    cause: 'client_refused',
    code: versionRefused,
    reason: versionReasons[refusal],
    errorCode: 'version_refused',
    mayRetryNow: refusal === 'another',
  }
}

export function closingOf(error: LibraryError | undefined, clock: Pick<Clock, 'now'>): Closing {
  if (!error) return { cause: 'transient', code: null, reason: writeReason('connectionClosed'), unreachable: broken }
  if (pairingOver.test(error.message)) return pairingOverClosing
  if (notGenuine.test(error.message)) return notGenuineClosing
  if (!sentByNetwork.test(error.message)) return brokenClosing(error)
  const code = codeOf(error)
  const meaning = meanings[code] ?? {
    cause: 'transient',
    reason: writeReason('closedWithCode', { code }),
    unreachable: away,
  }
  return code === 402 ? temporaryBan(error, meaning, clock) : { ...meaning, code }
}

/** A server that hangs up after the last code means the same as the last code expiring. */
export function explained(closing: Closing, { isOfferUsedUp, ...way }: Circumstances): Closing {
  if (closing.cause !== 'transient' || closing.code !== null) return closing
  if (isOfferUsedUp) return pairingOverClosing
  const { cause } = closing.unreachable ?? broken
  return { ...closing, reason: through(way.proxyHost, closing.reason), unreachable: unreachableOn(way, cause) }
}

/** The server did not answer at all. */
export function unansweredClosing(seconds: number, way: Way): Closing {
  const reason = through(way.proxyHost, writeReason('noFirstAnswer', { seconds }))
  return { cause: 'transient', code: 408, reason, unreachable: unreachableOn(way, 'timeout') }
}

/** Names the proxy, which may be the cause. */
function through(proxyHost: string | undefined, reason: string): string {
  return proxyHost === undefined ? reason : writeReason('throughProxy', { reason, host: proxyHost })
}

const pairingOverClosing: Closing = {
  cause: 'pairing_over',
  code: null,
  reason: writeReason('unscanned'),
}

const notGenuineClosing: Closing = {
  cause: 'transient',
  code: null,
  reason: writeReason('serverNotGenuine'),
  errorCode: 'server_not_genuine',
  unreachable: unreachableOn(directWay, 'not_genuine'),
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
    reason: why === undefined ? meaning.reason : writeReason('bannedForTimeBecause', { reason: why }),
  }
  return Number.isFinite(seconds) && seconds > 0
    ? { ...closing, until: clock.now() + Math.round(seconds * 1000) }
    : closing
}

function brokenClosing(error: LibraryError): Closing {
  const { code } = (error.data ?? {}) as { code?: unknown }
  const detail = typeof code === 'string' ? code : error.message
  const isOther = statusOfOther.test(error.message)
  const cause = isOther ? 'other_server' : causeOfErrorCode(typeof code === 'string' ? code : undefined)
  const reason = brokenReason(cause, detail)
  return { cause: 'transient', code: null, reason, unreachable: unreachableOn(directWay, cause) }
}

/** The library attaches the attributes of a refusal, or the whole node of a stream error. */
function attributesOf(error: LibraryError): Record<string, string | undefined> {
  const data = (error.data ?? {}) as { attrs?: Record<string, string> }
  return data.attrs ?? (data as Record<string, string>)
}
