// The endpoint that has the profile pictures of an instance's contacts looked at again.

import { Type } from 'typebox'
import type { AvatarResync } from '../../bridge/sync/avatars/avatar-resync.ts'
import { BridgeError } from '../../core/errors.ts'
import type { InstanceRegistry } from '../../instances/instance-registry.ts'
import type { HttpApp } from '../http-app.ts'
import { InstanceParams, responses } from '../schemas.ts'

export type AvatarDeps = {
  instances: Pick<InstanceRegistry, 'get'>
  /** Null while pictures are switched off. */
  resync: Pick<AvatarResync, 'run'> | null
}

const Resynced = Type.Object(
  {
    instance: Type.String(),
    scanned: Type.Integer({ description: 'Contacts of the helpdesk inbox' }),
    skipped: Type.Integer({ description: 'Contacts whose address is not one of WhatsApp' }),
    queued: Type.Integer({ description: 'Contacts whose picture is looked at in the background' }),
    pages: Type.Integer({ description: 'Pages of contacts that were read, 200 at most' }),
  },
  { title: 'AvatarResync' },
)

export function addAvatarRoutes(app: HttpApp, { instances, resync }: AvatarDeps): void {
  app.post(
    '/api/instances/:name/avatars/resync',
    {
      schema: {
        operationId: 'resyncAvatars',
        summary: 'Look at the profile pictures of all contacts again, also at those that count as fresh',
        tags: ['instances'],
        params: InstanceParams,
        response: responses({ 200: Resynced }, 404, 409, 500),
      },
    },
    async ({ params }) => {
      const account = instances.get(params.name)
      if (!resync) {
        throw new BridgeError('SERVICE_AVATARS_DISABLED', 'profile pictures are switched off: set SERVICE_AVATAR_SYNC')
      }
      if (account.state !== 'ready') {
        throw new BridgeError('SERVICE_NOT_READY', `the instance is ${account.state}: wait until it is ready`)
      }
      const { name } = account.record
      return { instance: name, ...(await resync.run(name)) }
    },
  )
}
