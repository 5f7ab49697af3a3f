// Control routes of client versions: the newest one, the oldest one that is accepted, and ones that are refused.
import type { SimNetwork } from '../network/sim-network.ts'
import type { RouteTable } from './route-table.ts'

const REVISION = { min: 0, max: 2 ** 31 - 1 }

export function versionRoutes({ versions }: SimNetwork): RouteTable {
  const view = () => ({
    newest: versions.newest ?? null,
    oldest: versions.oldest,
    refused: [...versions.refused],
    questions: versions.questions,
    seen: versions.seen,
  })
  return {
    'GET /client-versions': view,
    'POST /client-versions': ({ body }) => {
      if (body.flag('unavailable') === true) versions.newest = undefined
      versions.newest = body.optionalWhole('newest', REVISION) ?? versions.newest
      versions.oldest = body.optionalWhole('oldest', REVISION) ?? versions.oldest
      const refused = body.optionalWhole('refused', REVISION)
      if (refused !== undefined) versions.refused.add(refused)
      return view()
    },
  }
}
