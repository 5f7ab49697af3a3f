// The headers that restrict what browsers do with our pages. They are constant: building them for every request was a
// visible part of the cost of a callback.

import type { HttpApp } from '../http-app.ts'

const headers = {
  'content-security-policy': "default-src 'self'",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'strict-transport-security': 'max-age=31536000; includeSubDomains',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'SAMEORIGIN',
}

export function addSecurityHeaders(app: HttpApp): void {
  app.addHook('onRequest', (_request, reply, done) => {
    reply.headers(headers)
    done()
  })
}
