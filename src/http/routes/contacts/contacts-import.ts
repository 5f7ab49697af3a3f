// The endpoint that makes the address book of an account known to the helpdesk.

import { Type } from 'typebox'
import type { ContactsImports } from '../../../bridge/contacts/import/contacts-imports.ts'
import type { InstanceRegistry } from '../../../instances/instance-registry.ts'
import type { HttpApp } from '../../http-app.ts'
import { StartedJob, toStartedJob } from '../../jobs/job-view.ts'
import { InstanceParams, nullable, responses } from '../../schemas.ts'

export type ContactsImportDeps = {
  instances: Pick<InstanceRegistry, 'get'>
  imports: Pick<ContactsImports, 'start'>
}

const ImportBody = Type.Object(
  {
    only: Type.Optional(
      nullable(
        Type.Unsafe<'saved'>({
          ...{ type: 'string', enum: ['saved'] },
          description:
            'saved: only people in the address book. Without it, people of whom only the own name is known, too',
        }),
      ),
    ),
    create: Type.Optional(
      Type.Boolean({ description: 'People without a contact get one. By default only contacts that exist get names' }),
    ),
  },
  { title: 'ContactsImport', additionalProperties: false },
)

export function addContactsImportRoute(app: HttpApp, { instances, imports }: ContactsImportDeps): void {
  app.post(
    '/api/instances/:name/contacts/import',
    {
      schema: {
        operationId: 'importContacts',
        summary: 'Make the address book of the phone known to the helpdesk, as a job',
        description: 'Names that an agent wrote stay. GET /api/jobs shows the job.',
        tags: ['instances'],
        params: InstanceParams,
        body: nullable(ImportBody),
        response: responses({ 202: StartedJob }, 404, 409),
      },
    },
    async ({ params, body, actor }, reply) => {
      const { name: instance, ownerTag, state } = instances.get(params.name).record
      const asked = { only: body?.only ?? null, create: body?.create ?? false }
      const { job } = await imports.start({ instance, ownerTag, state, actor }, asked)
      return reply.code(202).send(toStartedJob(job))
    },
  )
}
