// Serves the files of the folder `static`: the dashboard, its style and pictures. They hold no data and need no token.

import serveStatic from '@fastify/static'
import type { FastifyError } from 'fastify'
import { BridgeError } from '../../core/errors.ts'
import type { HttpApp } from '../http-app.ts'
import { replyWithError, unknownRoute } from './error-reply.ts'

export async function addStaticFiles(app: HttpApp, root: string): Promise<void> {
  await app.register(async (scope) => {
    scope.addHook('onRoute', (route) => {
      route.config = { ...route.config, public: true }
      route.schema = { hide: true }
    })
    // A path that the file server refuses, such as one outside of the folder, is answered like an unknown route.
    scope.setErrorHandler((error: FastifyError, request, reply) => {
      const isRefusal =
        error instanceof BridgeError ? error.code === 'SERVICE_BAD_REQUEST' : (error.statusCode ?? 500) < 500
      replyWithError(isRefusal ? unknownRoute() : error, request, reply)
    })
    await scope.register(serveStatic, {
      ...{ root, prefix: '/static/', index: false, decorateReply: false, cacheControl: false },
      // The browser asks each time whether a file has changed. Otherwise old and new modules meet after an update.
      setHeaders: (reply) => {
        void reply.header('cache-control', 'no-cache')
      },
    })
  })
}
