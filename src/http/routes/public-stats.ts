// GET /api/public/stats: opt-in totals that a public page may show, readable from browsers.

import { Type } from 'typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { BridgeError } from '../../core/errors.ts'
import type { Roster } from '../../instances/roster/roster.ts'
import type { Usage } from '../../ledger/usage.ts'
import type { Clock } from '../../lib/clock.ts'
import type { HttpApp } from '../http-app.ts'
import { responses, Timestamp, toTimestamp } from '../schemas.ts'

const cacheMs = 30_000

export type PublicStatsDeps = {
  publicStats: boolean
  /** Browser origins that may read the figures; an empty list allows all of them. */
  publicStatsOrigins: readonly string[]
  version: string
  clock: Clock
  roster: Pick<Roster, 'counts' | 'refresh'>
  tenantCount: () => Promise<number>
  usage: Pick<Usage, 'totals'>
}

const PublicStats = Type.Object(
  {
    instances_connected: Type.Integer(),
    instances_total: Type.Integer(),
    tenants_total: Type.Integer(),
    messages_in_total: Type.Integer(),
    messages_out_total: Type.Integer(),
    version: Type.String(),
    last_updated: Timestamp,
  },
  { title: 'PublicStats' },
)

export function addPublicStatsRoutes(app: HttpApp, deps: PublicStatsDeps): void {
  const admit = (request: FastifyRequest, reply: FastifyReply) => {
    if (!deps.publicStats) {
      throw new BridgeError('SERVICE_PUBLIC_STATS_DISABLED', 'public stats are off: set PUBLIC_STATS_ENABLED=true')
    }
    allowOrigin(deps.publicStatsOrigins, request, reply)
  }
  const current = cached(deps.clock, () => gather(deps))
  app.get(
    '/api/public/stats',
    {
      config: { public: true },
      schema: {
        operationId: 'getPublicStats',
        tags: ['operations'],
        summary: 'Public totals, at most 30 s old',
        response: responses({ 200: PublicStats }, 403),
      },
    },
    (request, reply) => {
      admit(request, reply)
      return current()
    },
  )
  app.options('/api/public/stats', { config: { public: true }, schema: { hide: true } }, (request, reply) => {
    admit(request, reply)
    return reply
      .code(204)
      .header('access-control-allow-methods', 'GET, OPTIONS')
      .header('access-control-allow-headers', request.headers['access-control-request-headers'] ?? 'content-type')
      .header('access-control-max-age', '600')
      .send()
  })
}

function allowOrigin(origins: readonly string[], request: FastifyRequest, reply: FastifyReply): void {
  // The security headers keep other origins from reading; these figures are public.
  void reply.header('cross-origin-resource-policy', 'cross-origin')
  if (origins.length === 0) {
    void reply.header('access-control-allow-origin', '*')
    return
  }
  void reply.header('vary', 'Origin')
  const origin = request.headers.origin
  if (origin !== undefined && origins.includes(origin)) void reply.header('access-control-allow-origin', origin)
}

async function gather({ version, clock, roster, tenantCount, usage }: PublicStatsDeps) {
  const [tenantsTotal, totals] = await Promise.all([tenantCount(), usage.totals(), roster.refresh()])
  const { active, total } = roster.counts()
  return {
    instances_connected: active,
    instances_total: total,
    tenants_total: tenantsTotal,
    messages_in_total: totals.messages_in,
    messages_out_total: totals.messages_out,
    version,
    last_updated: toTimestamp(clock.now()),
  }
}

/** All callers within the cache time share one answer; a failure is not kept. */
function cached<T>(clock: Clock, load: () => Promise<T>): () => Promise<T> {
  let answer: Promise<T> | undefined
  let loadedAt = 0
  return () => {
    if (answer && clock.monotonic() - loadedAt < cacheMs) return answer
    loadedAt = clock.monotonic()
    const loading = load()
    answer = loading
    loading.catch(() => {
      if (answer === loading) answer = undefined
    })
    return loading
  }
}
