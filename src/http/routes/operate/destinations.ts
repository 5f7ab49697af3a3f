// GET /api/destinations: the helpdesk inboxes, which instances use them, and what is wrong with them.

import { Type } from 'typebox'
import type { LostCallbacks } from '../../../bridge/conversations/lost-callbacks.ts'
import type { HeldDestinations } from '../../../bridge/inbound/held-destinations.ts'
import { cureOfHold } from '../../../core/helpdesk/hold-cure.ts'
import type { HelpdeskVersions } from '../../../setup/checks/helpdesk-versions.ts'
import type { DestinationList } from '../../../tenants/destination-list.ts'
import type { HttpApp } from '../../http-app.ts'
import { nullable, Timestamp, toTimestamp } from '../../schemas.ts'

export type DestinationDeps = {
  destinations: Pick<DestinationList, 'read'>
  versions: Pick<HelpdeskVersions, 'of'>
  held: Pick<HeldDestinations, 'list'>
  lostCallbacks: Pick<LostCallbacks, 'list'>
}

const Hold = Type.Object(
  {
    reason: Type.String({ description: 'What the helpdesk answered' }),
    since: Timestamp,
    cure: Type.String({ description: 'What an operator can do' }),
  },
  { description: 'Nothing can be delivered there; messages wait' },
)
const Lost = Type.Object(
  { reason: Type.String(), advice: Type.String({ description: 'What an operator can do' }), since: Timestamp },
  { description: 'The helpdesk cannot deliver its callbacks; answers of agents are not sent' },
)
const Destination = Type.Object(
  {
    destination: Type.String({ description: 'Origin, account and inbox; origin and account without an inbox' }),
    owner_tag: nullable(Type.String({ description: 'The tenant that names it; null for the settings of the service' })),
    base_url: Type.String(),
    account_id: Type.Integer(),
    inbox_id: Type.Integer({ description: '0: the helpdesk is known, and no inbox of it is used yet' }),
    instances: Type.Array(Type.String(), { description: 'The instances whose messages go there' }),
    version: nullable(Type.String({ description: 'What the helpdesk told at its last check; null before it' })),
    held: nullable(Hold),
    callbacks_lost: nullable(Lost),
  },
  { title: 'Destination' },
)

export function addDestinationsRoute(app: HttpApp, deps: DestinationDeps): void {
  const { destinations, versions } = deps
  app.get(
    '/api/destinations',
    {
      schema: {
        operationId: 'listDestinations',
        tags: ['tenants'],
        summary: 'The helpdesk inboxes, which instances use them, and what is wrong with them',
        description: 'The helpdesks are not asked. The version is that of the last check.',
        response: { 200: Type.Array(Destination) },
      },
    },
    async () =>
      (await destinations.read()).map(({ place, ownerTag, baseUrl, accountId, inboxId, instances }) => ({
        destination: place,
        owner_tag: ownerTag,
        base_url: baseUrl,
        account_id: accountId,
        inbox_id: inboxId,
        instances,
        version: versions.of(baseUrl),
        held: holdAt(deps, place),
        callbacks_lost: lossAt(deps, place),
      })),
  )
}

function holdAt({ held }: DestinationDeps, place: string) {
  const found = held.list().find(({ destination }) => destination === place)
  if (!found) return null
  const { reason, since } = found
  return { reason, since: toTimestamp(since), cure: cureOfHold(reason) }
}

function lossAt({ lostCallbacks }: DestinationDeps, place: string) {
  const found = lostCallbacks.list().find(({ destination }) => destination === place)
  if (!found) return null
  const { reason, advice, since } = found
  return { reason, advice, since: toTimestamp(since) }
}
