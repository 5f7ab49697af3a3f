// Says why the network could not be reached, and what an operator can do about it.

import type { Unreachable, UnreachableCause } from '../../core/network.ts'
import { writeReason } from '../../core/reasons/reason.ts'

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
