// GET /api/version, GET /api/ready and GET /metrics.

import { Type } from 'typebox'
import type { Metrics } from '../../ledger/metrics.ts'
import type { HttpApp } from '../http-app.ts'

export type BuildInfo = {
  version: string
  commit: string
  buildDate: string
  /** The version of the library that speaks with WhatsApp. */
  library: string
}

export const readyStates = ['ready', 'starting', 'standby', 'draining', 'cut_off'] as const
export type ReadyState = (typeof readyStates)[number]

export type OperationsDeps = {
  build: BuildInfo
  metrics: Pick<Metrics, 'contentType' | 'exposition'>
  /** Whether a balancer may send requests here, or why not. */
  readyState: () => ReadyState
}

const Version = Type.Object(
  {
    version: Type.String(),
    commit: Type.String(),
    build_date: Type.String(),
    go_version: Type.String({ description: 'The runtime; the name is kept for older clients' }),
  },
  { title: 'Version' },
)

const Ready = Type.Object(
  {
    status: Type.Unsafe<ReadyState>({
      type: 'string',
      enum: [...readyStates],
      description:
        'starting: other requests wait for the start. standby: another process owns the accounts. ' +
        'draining: this node gives its instances away and ends. cut_off: this node does not reach the database.',
    }),
  },
  { title: 'Ready' },
)

export function addOperationsRoutes(app: HttpApp, { build, metrics, readyState }: OperationsDeps): void {
  app.get(
    '/api/version',
    {
      schema: {
        operationId: 'getVersion',
        tags: ['operations'],
        summary: 'Version of the service',
        response: { 200: Version },
      },
    },
    () => ({
      version: build.version,
      commit: build.commit,
      build_date: build.buildDate,
      go_version: `node ${process.version}`,
    }),
  )
  app.get(
    '/api/ready',
    {
      config: { public: true, unlimited: true },
      schema: {
        operationId: 'getReady',
        tags: ['operations'],
        summary: 'Whether a balancer may send requests to this process, from memory',
        description:
          '200 with status ready; 503 with the reason otherwise. Health says what is wrong with the service.',
        response: { 200: Ready, 503: Ready },
      },
    },
    async (_request, reply) => {
      const status = readyState()
      return reply.code(status === 'ready' ? 200 : 503).send({ status })
    },
  )
  app.get(
    '/metrics',
    {
      config: { public: true, unlimited: true },
      schema: {
        operationId: 'getMetrics',
        tags: ['operations'],
        summary: 'Metrics in the Prometheus text format',
        produces: ['text/plain'],
        response: { 200: Type.String() },
      },
    },
    async (_request, reply) => reply.type(metrics.contentType).send(await metrics.exposition()),
  )
}
