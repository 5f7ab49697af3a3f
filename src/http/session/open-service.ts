// What protects a service without a token. Every route is open to programs that reach it. The page of a stranger is refused:
// it reaches the service through the browser of a person who can.

import { isIP } from 'node:net'
import { findOtherOrigin } from './same-origin.ts'
import type { Asked } from './same-origin.ts'

/** Names below these belong to the own machine or network. A stranger cannot make one of them lead to us. */
const privateDomains = ['localhost', 'local', 'internal', 'home.arpa']

/** Why the request may be made by the page of a stranger; null when nothing says so. */
export function findStranger(asked: Asked, publicUrl: string | null): string | null {
  // As the browser sent it: a page that reaches us under a name of its own may send any X-Forwarded-Host.
  const host = nameOf(`http://${asked.headers.host ?? ''}`)
  const isOwn = host === '' || isPrivate(host) || host === nameOf(publicUrl ?? '')
  if (isOwn) return findOtherOrigin(asked)
  return (
    'SERVICE_API_TOKEN is empty, so the service is served only at an IP address, at localhost, at a name of the own network ' +
    'and at the host of SERVICE_PUBLIC_URL: set SERVICE_API_TOKEN, or ask there'
  )
}

function nameOf(url: string): string {
  return URL.parse(url)?.hostname ?? ''
}

/** A page can make a name of its own domain lead to any address (DNS rebinding), but no address and no name without a domain. */
function isPrivate(host: string): boolean {
  if (isIP(host.replace(/^\[|\]$/g, '')) !== 0 || !host.includes('.')) return true
  return privateDomains.some((domain) => host.endsWith(`.${domain}`))
}
