// The endpoint that brings the names of all known people of an instance to the helpdesk.

import { Type } from 'typebox'
import type { NameReconciliation } from '../../bridge/sync/names/name-reconciliation.ts'
import type { InstanceRegistry } from '../../instances/instance-registry.ts'
import type { HttpApp } from '../http-app.ts'
import { InstanceParams, responses } from '../schemas.ts'

export type NamesDeps = {
  reconciliation: Pick<NameReconciliation, 'run'>
  instances: Pick<InstanceRegistry, 'get'>
}

const Reconciled = Type.Object(
  {
    instance: Type.String(),
    scanned: Type.Integer({ description: 'People who have a contact, or earlier messages with a header' }),
    renamed: Type.Integer({ description: 'Contacts that have another name now' }),
    rewritten: Type.Integer({ description: 'Earlier messages that have another header now' }),
    skipped: Type.Integer({ description: 'People of whom nothing was changed' }),
  },
  { title: 'ReconciledNames' },
)

export function addNamesRoutes(app: HttpApp, { reconciliation, instances }: NamesDeps): void {
  app.post(
    '/api/instances/:name/retroactive/reconcile',
    {
      schema: {
        operationId: 'reconcileNames',
        summary: 'Bring the names of all known people to the helpdesk; calls at the same time share one run',
        tags: ['messages'],
        params: InstanceParams,
        response: responses({ 200: Reconciled }, 404, 409, 500),
      },
    },
    async ({ params }) => {
      const { name } = instances.get(params.name).record
      return { instance: name, ...(await reconciliation.run(name)) }
    },
  )
}
