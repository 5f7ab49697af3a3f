// GET /api/version and GET /metrics.

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

export type OperationsDeps = { build: BuildInfo; metrics: Pick<Metrics, 'contentType' | 'exposition'> }

const Version = Type.Object(
  {
    version: Type.String(),
    commit: Type.String(),
    build_date: Type.String(),
    go_version: Type.String({ description: 'The runtime; the name is kept for older clients' }),
  },
  { title: 'Version' },
)

export function addOperationsRoutes(app: HttpApp, { build, metrics }: OperationsDeps): void {
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
