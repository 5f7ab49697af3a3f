// Refuses requests while the event loop does not keep up: when every turn takes long, not just one.
//
// Measures ten times a second. A finer measurement wakes an idle process hundreds of times a second and costs more than all
// of its other work.

import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { FastifyRequest } from 'fastify'
import { BridgeError } from '../../core/errors.ts'
import type { HttpApp } from '../http-app.ts'

const resolutionMs = 100
const windowMs = 5000
/** Mean over the window. */
const overloadedDelayMs = 1000

export function refuseOnOverload(app: HttpApp, isExempt: (request: FastifyRequest) => boolean): void {
  const delays = monitorEventLoopDelay({ resolution: resolutionMs })
  let isOverloaded = false
  delays.enable()
  const watch = setInterval(() => {
    isOverloaded = delays.mean / 1e6 - resolutionMs > overloadedDelayMs
    delays.reset()
  }, windowMs).unref()
  app.addHook('onClose', (_instance, done) => {
    clearInterval(watch)
    delays.disable()
    done()
  })
  app.addHook('onRequest', (request, _reply, done) => {
    if (!isOverloaded || isExempt(request)) done()
    else done(new BridgeError('SERVICE_OVERLOADED', 'the service is overloaded, try again in some seconds'))
  })
}
