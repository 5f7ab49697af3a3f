// GET /api/audit: the append-only log, newest entries first.

import { Type } from 'typebox'
import type { AuditStore } from '../../storage/stores/ledger/audit-store.ts'
import type { HttpApp } from '../http-app.ts'
import { InstanceName, OwnerTag, Timestamp, toTimestamp } from '../schemas.ts'

const defaultLimit = 100
const maxLimit = 500

export type AuditDeps = { audit: Pick<AuditStore, 'list'> }

const Query = Type.Object({
  instance: Type.Optional(InstanceName),
  owner_tag: Type.Optional(OwnerTag),
  limit: Type.Optional(Type.String({ pattern: '^0*[1-9]\\d{0,8}$', description: 'a whole number of at least 1' })),
})

const Entry = Type.Object(
  {
    id: Type.Integer(),
    ts: Timestamp,
    actor: Type.String({ description: 'api, dashboard or system' }),
    action: Type.String(),
    instance: Type.String(),
    target: Type.String(),
    metadata: Type.Object({}, { additionalProperties: true }),
  },
  { title: 'AuditEntry' },
)

export function addAuditRoute(app: HttpApp, { audit }: AuditDeps): void {
  app.get(
    '/api/audit',
    {
      schema: {
        operationId: 'listAudit',
        tags: ['observability'],
        summary:
          'What was done to instances and tenants, of one instance or recorded with one tag; at most 500 entries',
        querystring: Query,
        response: { 200: Type.Object({ entries: Type.Array(Entry) }) },
      },
    },
    async ({ query }) => {
      const entries = await audit.list({
        ...(query.instance !== undefined && { instance: query.instance }),
        ...(query.owner_tag !== undefined && { ownerTag: query.owner_tag }),
        limit: Math.min(query.limit === undefined ? defaultLimit : Number(query.limit), maxLimit),
      })
      return { entries: entries.map(({ at, ...entry }) => ({ ...entry, ts: toTimestamp(at) })) }
    },
  )
}
