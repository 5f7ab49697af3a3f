// The headers that restrict what browsers do with our pages. They are constant: building them for every request was a
// visible part of the cost of a callback.

import type { FastifyRequest } from 'fastify'
import type { HttpApp } from '../http-app.ts'

const headers = {
  'content-security-policy': [
    ...["default-src 'self'", "object-src 'none'", "base-uri 'none'", "form-action 'self'", "frame-ancestors 'self'"],
    // Browsers then refuse to turn a text into markup or a script.
    ...["require-trusted-types-for 'script'", "trusted-types 'none'"],
  ].join('; '),
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'SAMEORIGIN',
}

/**
 * Over plain http a browser ignores the last header. Other services of the domain may have no https, so the header speaks for
 * this host alone.
 */
const headersOverTls = { ...headers, 'strict-transport-security': 'max-age=31536000' }

/** `isForwarded`: another node answers the browser and adds them itself. */
export function addSecurityHeaders(app: HttpApp, isForwarded: (request: FastifyRequest) => boolean): void {
  app.addHook('onRequest', (request, reply, done) => {
    // The service itself has no TLS. X-Forwarded-Proto counts only with SERVICE_TRUST_PROXY.
    if (!isForwarded(request)) reply.headers(request.protocol === 'https' ? headersOverTls : headers)
    done()
  })
}
