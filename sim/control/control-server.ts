// The control API of the simulator: a test can do over HTTP what it can do in process.
import fastify, { type FastifyInstance } from 'fastify'
import { helpdeskControl } from '../helpdesk/control/helpdesk-control.ts'
import { IqError } from '../network/server/iq-router.ts'
import type { SimWorld } from '../sim-world.ts'
import { accountRoutes } from './account-routes.ts'
import { clockRoutes } from './clock-routes.ts'
import { faultRoutes } from './fault-routes.ts'
import { ControlError } from './fields.ts'
import { groupRoutes } from './group-routes.ts'
import { peopleRoutes } from './people-routes.ts'
import { tableRoutes } from './route-table.ts'
import { versionRoutes } from './version-routes.ts'

const MAX_BODY = 64 * 1024 * 1024

export class ControlServer {
  readonly url: string
  readonly #app: FastifyInstance

  private constructor(app: FastifyInstance, url: string) {
    this.#app = app
    this.url = url
  }

  static async start(world: SimWorld, port = 0): Promise<ControlServer> {
    const { network, helpdesk } = world
    const app = jsonService()
    const table = { ...accountRoutes(network), ...peopleRoutes(network), ...groupRoutes(network) }
    await app.register(
      tableRoutes({ ...table, ...faultRoutes(network), ...versionRoutes(network), ...clockRoutes(world) }),
    )
    await app.register(helpdeskControl(helpdesk), { prefix: '/helpdesk' })
    return new ControlServer(app, await app.listen({ host: '127.0.0.1', port }))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#app.close()
  }
}

/** Reads every body as JSON, with any content type, and answers every error in one shape. */
function jsonService(): FastifyInstance {
  const app = fastify({
    bodyLimit: MAX_BODY,
    forceCloseConnections: true,
    routerOptions: { maxParamLength: 500 },
  })
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'string' }, (_, text, done) => {
    try {
      done(null, text === '' ? {} : JSON.parse(String(text)))
    } catch (error) {
      done(new ControlError(400, `the body is not JSON: ${String(error)}`))
    }
  })
  app.setErrorHandler((error, _, reply) => reply.code(statusOf(error)).send({ error: messageOf(error) }))
  app.setNotFoundHandler((request, reply) =>
    reply.code(404).send({ error: `there is no ${request.method} ${request.url}` }),
  )
  return app
}

/** The network's own code for a refusal, 409 for other refusals, 500 for faults of the simulator. */
function statusOf(error: unknown): number {
  if (error instanceof ControlError) return error.status
  if (error instanceof IqError) return error.code
  if (error instanceof Error && 'statusCode' in error && typeof error.statusCode === 'number') return error.statusCode
  return error instanceof TypeError || error instanceof RangeError ? 500 : 409
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
