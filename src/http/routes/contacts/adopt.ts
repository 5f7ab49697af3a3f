// The endpoint that takes over a helpdesk inbox which another bridge has filled.

import { Type } from 'typebox'
import type { Adoptions } from '../../../adoption/adoptions.ts'
import { otherBridges } from '../../../core/other-bridges/other-bridges.ts'
import type { OtherBridge } from '../../../core/other-bridges/other-bridges.ts'
import type { InstanceRegistry } from '../../../instances/instance-registry.ts'
import type { HttpApp } from '../../http-app.ts'
import { StartedJob, toStartedJob } from '../../jobs/job-view.ts'
import { InstanceParams, responses } from '../../schemas.ts'

export type AdoptDeps = { instances: Pick<InstanceRegistry, 'get'>; adoptions: Pick<Adoptions, 'start'> }

const AdoptBody = Type.Object(
  {
    from: Type.Unsafe<OtherBridge>({
      ...{ type: 'string', enum: [...otherBridges], description: 'The bridge that has filled the helpdesk inbox' },
    }),
    dry_run: Type.Optional(Type.Boolean({ description: 'Only count what would be taken over; true by default' })),
  },
  { additionalProperties: false },
)

export function addAdoptRoutes(app: HttpApp, { instances, adoptions }: AdoptDeps): void {
  app.post(
    '/api/instances/:name/adopt',
    {
      schema: {
        operationId: 'adoptInbox',
        summary: 'Start a job that takes over what another bridge wrote into the helpdesk inbox',
        description:
          'Nothing is sent to WhatsApp and nothing is posted to Chatwoot. GET /api/jobs/:id shows the result.',
        tags: ['jobs'],
        params: InstanceParams,
        body: AdoptBody,
        response: responses({ 202: StartedJob }, 404, 409, 500),
      },
    },
    async ({ params, body, actor }, reply) => {
      const { name: instance, ownerTag } = instances.get(params.name).record
      const order = { from: body.from, dryRun: body.dry_run ?? true }
      return reply.code(202).send(toStartedJob(await adoptions.start({ instance, ownerTag, actor }, order)))
    },
  )
}
