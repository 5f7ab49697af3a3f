// The endpoints of jobs: work that takes long, survives a restart and can be watched and cancelled.

import { Type } from 'typebox'
import type { Caller } from '../../core/audit.ts'
import type { Job } from '../../core/jobs/job.ts'
import { servedByOwner } from '../forwarding/route-forwarder.ts'
import type { RouteForwarder } from '../forwarding/route-forwarder.ts'
import type { HttpApp } from '../http-app.ts'
import { readJob, readJobs } from '../jobs/all-jobs.ts'
import type { JobReaderDeps } from '../jobs/all-jobs.ts'
import { JobBody, toJobBody } from '../jobs/job-view.ts'
import { InstanceName, responses } from '../schemas.ts'

export type JobDeps = JobReaderDeps & {
  cancel: (id: string, actor: Caller) => Promise<Job>
}

const JobParams = Type.Object({ id: Type.String({ minLength: 1, maxLength: 64 }) })

const about = (operationId: string, summary: string) => ({ operationId, summary, tags: ['jobs'] })

const elsewhere =
  'With several nodes, a job that another node runs is shown as it was stored last if that node does not answer within a second.'

export function addJobRoutes(app: HttpApp, deps: JobDeps, forwarder: RouteForwarder | null): void {
  app.get(
    '/api/jobs',
    {
      schema: {
        ...about('listJobs', 'The jobs of all instances, newest first'),
        description: `Jobs that have ended are listed for 24 hours. The newest 500 jobs are listed. ${elsewhere}`,
        querystring: Type.Object({ instance: Type.Optional(InstanceName) }),
        response: { 200: Type.Array(JobBody) },
      },
    },
    ({ query }) => readJobs(deps, query.instance),
  )
  app.get(
    '/api/jobs/:id',
    {
      schema: {
        ...about('getJob', 'One job: its status, progress and result'),
        description: elsewhere,
        params: JobParams,
        response: responses({ 200: JobBody }, 404),
      },
    },
    ({ params }) => readJob(deps, params.id),
  )
  app.delete(
    '/api/jobs/:id',
    {
      schema: {
        ...about('cancelJob', 'Cancel a job that has not ended'),
        description: 'What the job has done at the helpdesk stays.',
        params: JobParams,
        response: responses({ 200: JobBody }, 404, 409),
      },
      config: { handsOver: true },
    },
    async (request, reply) => {
      const { id } = request.params
      const { instance } = await deps.jobs.get(id)
      return servedByOwner(forwarder, { request, reply, instance }, async () =>
        reply.send(toJobBody(await deps.cancel(id, request.actor))),
      )
    },
  )
}
