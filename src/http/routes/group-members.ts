// Adds, removes, promotes and demotes members of a group, and decides on the people who want to join.

import { Type } from 'typebox'
import { readMemberAddresses } from '../../bridge/groups/member-addresses.ts'
import { personJid } from '../../core/address.ts'
import type { HttpApp } from '../http-app.ts'
import { nullable, responses, Timestamp, toTimestamp } from '../schemas.ts'
import {
  about,
  adminOf,
  groupIdOf,
  GroupJid,
  GroupParams,
  MemberResults,
  People,
  peopleRule,
  toChangeAnswer,
} from './group-schemas.ts'
import type { GroupDeps } from './group-schemas.ts'

const MemberAction = Type.Union([
  Type.Literal('add'),
  Type.Literal('remove'),
  Type.Literal('promote'),
  Type.Literal('demote'),
])
const Decision = Type.Union([Type.Literal('approve'), Type.Literal('reject')])
const Count = Type.Integer({ description: 'How many have the status ok' })

const MemberChange = Type.Object(
  {
    action: MemberAction,
    jids: People(peopleRule),
    invite: Type.Optional(
      Type.Boolean({ description: 'Send an invitation to a person whom only an invitation can bring into the group' }),
    ),
  },
  { title: 'MemberChange' },
)
const RequestDecision = Type.Object({ action: Decision, jids: People(peopleRule) }, { title: 'RequestDecision' })

const JoinRequest = Type.Object({ jid: Type.String(), requested_at: nullable(Timestamp) }, { title: 'JoinRequest' })

export function addGroupMemberRoutes(app: HttpApp, deps: GroupDeps): void {
  addParticipantRoute(app, deps)
  addRequestRoutes(app, deps)
}

function addParticipantRoute(app: HttpApp, deps: GroupDeps): void {
  app.post(
    '/api/instances/:name/groups/:jid/participants',
    {
      schema: {
        ...about('changeGroupParticipants', 'Add, remove, promote or demote members of a group'),
        description: 'The answer is 200 also if the change failed for some of the people: look at the results.',
        params: GroupParams,
        body: MemberChange,
        response: responses(
          { 200: Type.Object({ jid: GroupJid, action: MemberAction, count: Count, results: MemberResults }) },
          404,
          409,
        ),
      },
    },
    async ({ params: { name, jid }, body: { action, jids, invite = false }, actor }) => {
      const addresses = readMemberAddresses(jids, 'jids')
      const change = { action, addresses, mayInvite: invite }
      return toChangeAnswer(
        jid,
        action,
        await deps.groups.changeMembers(adminOf(deps, name, actor), groupIdOf(jid), change),
      )
    },
  )
}

function addRequestRoutes(app: HttpApp, deps: GroupDeps): void {
  const { groups } = deps
  app.get(
    '/api/instances/:name/groups/:jid/requests',
    {
      schema: {
        ...about('listGroupRequests', 'The people who wait for an administrator to let them join a group'),
        params: GroupParams,
        response: responses({ 200: Type.Array(JoinRequest) }, 404, 409),
      },
    },
    async ({ params: { name, jid } }) => {
      const requests = await groups.joinRequests(deps.instances.get(name).record.name, groupIdOf(jid))
      return requests.map(({ person, requestedAt }) => ({
        jid: personJid(person),
        requested_at: requestedAt === null ? null : toTimestamp(requestedAt),
      }))
    },
  )
  app.post(
    '/api/instances/:name/groups/:jid/requests',
    {
      schema: {
        ...about('decideGroupRequests', 'Approve or reject people who want to join a group'),
        params: GroupParams,
        body: RequestDecision,
        response: responses(
          { 200: Type.Object({ jid: GroupJid, action: Decision, count: Count, results: MemberResults }) },
          404,
          409,
        ),
      },
    },
    async ({ params: { name, jid }, body: { action, jids }, actor }) => {
      const addresses = readMemberAddresses(jids, 'jids')
      const outcomes = await groups.decideRequests(adminOf(deps, name, actor), groupIdOf(jid), { action, addresses })
      return toChangeAnswer(jid, action, outcomes)
    },
  )
}
