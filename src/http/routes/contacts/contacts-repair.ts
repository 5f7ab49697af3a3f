// The endpoint that merges the contacts of a helpdesk inbox that are one person.

import { Type } from 'typebox'
import type { ContactRepairs } from '../../../bridge/contacts/repair/contact-repairs.ts'
import type { InstanceRegistry } from '../../../instances/instance-registry.ts'
import type { HttpApp } from '../../http-app.ts'
import { StartedJob, toStartedJob } from '../../jobs/job-view.ts'
import { InstanceParams, nullable, responses } from '../../schemas.ts'

export type ContactsRepairDeps = {
  instances: Pick<InstanceRegistry, 'get'>
  repairs: Pick<ContactRepairs, 'start'>
}

const RepairBody = Type.Object(
  {
    dry_run: Type.Optional(
      Type.Boolean({
        description: 'true, the default: only list the pairs. false: merge them. A merge cannot be undone',
      }),
    ),
  },
  { title: 'ContactsRepair', additionalProperties: false },
)

export function addContactsRepairRoute(app: HttpApp, { instances, repairs }: ContactsRepairDeps): void {
  app.post(
    '/api/instances/:name/contacts/repair',
    {
      schema: {
        operationId: 'repairContacts',
        summary: 'Find contacts of the helpdesk inbox that are one person, and merge them, as a job',
        description: 'The result of the job lists the pairs. GET /api/jobs shows the job.',
        tags: ['instances'],
        params: InstanceParams,
        body: nullable(RepairBody),
        response: responses({ 202: StartedJob }, 404, 409),
      },
    },
    async ({ params, body, actor }, reply) => {
      const { name: instance, ownerTag } = instances.get(params.name).record
      const { job } = await repairs.start({ instance, ownerTag, actor }, { dryRun: body?.dry_run ?? true })
      return reply.code(202).send(toStartedJob(job))
    },
  )
}
