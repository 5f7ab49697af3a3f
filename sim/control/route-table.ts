// Registers a table of control calls as Fastify routes.
import type { FastifyPluginCallback } from 'fastify'
import { Fields } from './fields.ts'

export type Call = { params: Record<string, string>; query: URLSearchParams; body: Fields }
/** The value becomes the JSON of the answer; a Buffer is sent as it is. */
export type Handler = (call: Call) => unknown
/** `METHOD /path/:name` */
export type RouteTable = Record<string, Handler>

export function tableRoutes(table: RouteTable): FastifyPluginCallback {
  return (app, _, done) => {
    for (const [key, handler] of Object.entries(table)) {
      const [method = '', url = ''] = key.split(' ')
      app.route({
        method: method,
        url,
        handler: async (request) => {
          const query = new URLSearchParams(request.url.split('?')[1])
          const params = request.params as Record<string, string>
          return (await handler({ params, query, body: new Fields(request.body ?? {}) })) ?? {}
        },
      })
    }
    done()
  }
}
