// Says why the network could not be reached, and what an operator can do about it.

import type { Unanswered, Unreachable, UnreachableCause } from '../../core/network/closing.ts'
import { writeReason } from '../../core/reasons/reason.ts'
import { EgressError } from '../../lib/egress/errors.ts'

/** How a connection gets to the network. `isElsewhere`: to another server than WhatsApp's. */
export type Way = { proxyHost: string | undefined; isElsewhere: boolean }

/** The codes of Node for an end of a connection, and what they mean. */
const causeOfCode: Readonly<Record<string, UnreachableCause>> = {
  ENOTFOUND: 'dns',
  EAI_AGAIN: 'dns',
  EAI_FAIL: 'dns',
  EAI_NODATA: 'dns',
  ECONNREFUSED: 'refused',
  EHOSTUNREACH: 'no_route',
  ENETUNREACH: 'no_route',
  ENETDOWN: 'no_route',
  EADDRNOTAVAIL: 'no_route',
  ETIMEDOUT: 'timeout',
  UND_ERR_CONNECT_TIMEOUT: 'timeout',
  EPROTO: 'tls',
}
const tlsCode = /CERT|SIGNATURE|^ERR_SSL|^ERR_TLS|^HOSTNAME_MISMATCH/

const cures: Readonly<Record<UnreachableCause, string>> = {
  dns: writeReason('cureDns'),
  refused: writeReason('cureFirewall'),
  no_route: writeReason('cureInternet'),
  timeout: writeReason('cureFirewall'),
  proxy: writeReason('cureProxy'),
  tls: writeReason('cureTls'),
  not_genuine: writeReason('cureBetween'),
  other_server: writeReason('cureBetween'),
  away: writeReason('cureWait'),
  broken: writeReason('cureBetween'),
}

/** A proxy carries bytes, so these causes are not its own. */
const beyondProxy: ReadonlySet<UnreachableCause> = new Set(['tls', 'not_genuine', 'away'])

export function causeOfErrorCode(code: string | undefined): UnreachableCause {
  if (code === undefined) return 'broken'
  return causeOfCode[code] ?? (tlsCode.test(code) ? 'tls' : 'broken')
}

/** The cause as it is on this way, with its cure. */
export function unreachableOn({ proxyHost, isElsewhere }: Way, cause: UnreachableCause): Unreachable {
  if (proxyHost !== undefined && !beyondProxy.has(cause)) return { cause: 'proxy', cure: cures.proxy }
  if (isElsewhere && cause !== 'away') return { cause, cure: writeReason('cureElsewhere') }
  return { cause, cure: cures[cause] }
}

/** Explains why a request over HTTP got no answer. */
export function explainUnanswered(error: unknown, way: Way): Unanswered {
  const reason = error instanceof Error ? error.message : String(error)
  return { reason, cure: unreachableOn(way, causeOfError(error)).cure }
}

/** The code may be that of an error that caused this one. */
function causeOfError(error: unknown): UnreachableCause {
  if (!(error instanceof Error)) return 'broken'
  if (error instanceof EgressError && error.reason === 'timeout') return 'timeout'
  const { code } = error as { code?: unknown }
  const cause = causeOfErrorCode(typeof code === 'string' ? code : undefined)
  return cause === 'broken' && error.cause !== undefined ? causeOfError(error.cause) : cause
}

/** The sentence for a connection that ended with an error of this machine or of a proxy. */
export function brokenReason(cause: UnreachableCause, detail: string): string {
  switch (cause) {
    case 'dns':
      return writeReason('nameNotFound', { detail })
    case 'refused':
      return writeReason('connectionRefused', { detail })
    case 'no_route':
      return writeReason('noRoute', { detail })
    case 'timeout':
      return writeReason('connectTimedOut', { detail })
    case 'tls':
      return writeReason('tlsFailed', { detail })
    case 'other_server':
      return writeReason('otherServer', { detail })
    case 'proxy':
    case 'not_genuine':
    case 'away':
    case 'broken':
      return writeReason('connectionBroke', { detail })
  }
}
