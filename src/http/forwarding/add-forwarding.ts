// Puts the forwarding in front of the routes of the public server.

import type { HttpApp } from '../http-app.ts'
import type { BodyMemory } from '../body-memory.ts'
import { Forwarding } from './forwarding.ts'
import type { ForwardingDeps } from './passage.ts'

/** Must come after the check of the token. */
export function addForwarding(app: HttpApp, deps: ForwardingDeps, newBodies: () => BodyMemory): void {
  const forwarding = new Forwarding(deps, newBodies)
  app.addHook('onRequest', (request, _reply, done) => {
    const arrived = deps.forwarded.find(request.raw)
    // The connection is the one of the other node.
    if (arrived) Object.defineProperty(request, 'ip', { value: arrived.head.client })
    done()
  })
  app.addHook('preClose', (done) => {
    forwarding.close()
    done()
  })
  // With a callback: it is not called for a request that is answered, whose answer may still be on its way.
  app.addHook('preParsing', (request, reply, payload, done) => {
    forwarding.pass(request, reply, payload).then((result) => {
      if (result !== 'answered') done(null, result)
    }, done)
  })
}
