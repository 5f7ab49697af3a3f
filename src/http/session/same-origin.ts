// Whether a request comes from our own pages. A browser sends the cookie of a session also for requests that another page
// of the same site makes, for example one on another port of the same host.

import type { FastifyRequest } from 'fastify'

export type Asked = Pick<FastifyRequest, 'method' | 'headers' | 'host' | 'protocol'>

export const dashboardHeader = 'x-causeway-dashboard'

const readingMethods = ['GET', 'HEAD']

/** Why the request comes from somewhere else; null when nothing says so. */
export function findOtherOrigin({ method, headers, host, protocol }: Asked): string | null {
  const site = headers['sec-fetch-site']
  // none: a person typed the address, so no page asks.
  const isOwn = site === undefined || site === 'same-origin' || (site === 'none' && isReading(method))
  if (!isOwn) return 'the browser says that another site asks: Sec-Fetch-Site is not same-origin'
  const { origin } = headers
  if (origin === undefined || isOrigin(origin, host, protocol)) return null
  return (
    'Origin is not the address of the service: a proxy in front of it must pass the Host header on, ' +
    'or send X-Forwarded-Host and X-Forwarded-Proto while SERVICE_TRUST_PROXY is true'
  )
}

/** Why a session does not count for this request; null when it does. */
export function findSessionRefusal(asked: Asked): string | null {
  const other = findOtherOrigin(asked)
  if (other !== null || isReading(asked.method)) return other
  if (asked.headers.origin === undefined) return 'the header Origin is missing'
  // A form or a picture of another page cannot send it, and a script of another page may not.
  if (asked.headers[dashboardHeader] !== '1') return `the header ${dashboardHeader}: 1 is missing`
  return null
}

/** Behind a proxy that does not say that it speaks https, either scheme may be ours. */
function isOrigin(given: string, host: string, protocol: string): boolean {
  const scheme = URL.parse(given)?.protocol ?? ''
  if (scheme !== 'https:' && (scheme !== 'http:' || protocol === 'https')) return false
  return URL.parse(`${scheme}//${host}`)?.origin === given
}

function isReading(method: string): boolean {
  return readingMethods.includes(method)
}
