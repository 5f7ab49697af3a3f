// The groups of an account: list, details, creating a group and leaving it. The other group routes are added here, too.

import { Type } from 'typebox'
import type { NamedGroup } from '../../bridge/groups/group-service.ts'
import { readMemberAddresses } from '../../bridge/groups/member-addresses.ts'
import { nameOf } from '../../bridge/groups/named-members.ts'
import type { NamedMember } from '../../bridge/groups/named-members.ts'
import { groupJid, lidJid, personJid } from '../../core/address.ts'
import type { HttpApp } from '../http-app.ts'
import { InstanceParams, nullable, responses, Timestamp, toTimestamp } from '../schemas.ts'
import { addGroupLinkRoutes } from './group-link.ts'
import { addGroupMemberRoutes } from './group-members.ts'
import {
  about,
  adminOf,
  groupIdOf,
  GroupJid,
  GroupName,
  GroupParams,
  MemberResults,
  People,
  peopleRule,
  refuseBlankName,
  toResults,
} from './group-schemas.ts'
import type { GroupDeps } from './group-schemas.ts'
import { addGroupSettingRoutes } from './group-settings.ts'

const Role = Type.Union([Type.Literal('member'), Type.Literal('admin'), Type.Literal('superadmin')])

const Participant = Type.Object({
  jid: Type.String({ description: 'By phone number where it is known, else by anonymous id' }),
  lid: Type.Optional(Type.String({ description: 'The anonymous id, as <digits>@lid' })),
  phone_number: Type.Optional(Type.String({ description: 'E.164 with the plus' })),
  name: Type.Optional(Type.String({ description: 'The saved name, else the name that the person chose' })),
  role: Role,
  is_admin: Type.Boolean(),
  is_super_admin: Type.Boolean(),
})

const Group = Type.Object(
  {
    jid: GroupJid,
    subject: Type.String(),
    topic: Type.String({ description: 'The description; empty when there is none' }),
    owner: nullable(Type.String({ description: 'The jid of the person who created the group' })),
    created_at: nullable(Timestamp),
    is_locked: Type.Boolean({ description: 'Only administrators may change name, description and picture' }),
    is_announce: Type.Boolean({ description: 'Only administrators may write' }),
    is_ephemeral: Type.Boolean({ description: 'Messages disappear after some time' }),
    participants: Type.Array(Participant),
  },
  { title: 'Group' },
)

const GroupItem = Type.Object(
  { jid: GroupJid, subject: Type.String(), size: Type.Integer({ description: 'Members' }), role: Role },
  { title: 'GroupItem' },
)

const Created = Type.Object({ jid: GroupJid, name: Type.String(), participants: MemberResults }, { title: 'NewGroup' })

export function addGroupRoutes(app: HttpApp, deps: GroupDeps): void {
  addReadingRoutes(app, deps)
  addMembershipRoutes(app, deps)
  addGroupSettingRoutes(app, deps)
  addGroupMemberRoutes(app, deps)
  addGroupLinkRoutes(app, deps)
}

function addReadingRoutes(app: HttpApp, deps: GroupDeps): void {
  const { groups } = deps
  app.get(
    '/api/instances/:name/groups',
    {
      schema: {
        ...about('listGroups', 'The groups of which the account is a member'),
        params: InstanceParams,
        response: responses({ 200: Type.Array(GroupItem) }, 404, 409),
      },
    },
    async ({ params }) => {
      const found = await groups.list(deps.instances.get(params.name).record.name)
      return found.map(({ id, subject, size, role }) => ({ jid: groupJid(id), subject, size, role }))
    },
  )
  app.get(
    '/api/instances/:name/groups/:jid',
    {
      schema: {
        ...about('getGroup', 'Name, description, settings and members of a group'),
        params: GroupParams,
        response: responses({ 200: Group }, 404, 409),
      },
    },
    async ({ params }) =>
      toGroup(await groups.details(deps.instances.get(params.name).record.name, groupIdOf(params.jid))),
  )
}

function addMembershipRoutes(app: HttpApp, deps: GroupDeps): void {
  const { groups } = deps
  app.post(
    '/api/instances/:name/groups',
    {
      schema: {
        ...about('createGroup', 'Create a group'),
        description: 'People who cannot be added are among the participants with the status failed.',
        params: InstanceParams,
        body: Type.Object({ name: GroupName, participants: People(peopleRule) }, { title: 'GroupCreation' }),
        response: responses({ 201: Created }, 404, 409),
      },
    },
    async ({ params, body, actor }, reply) => {
      refuseBlankName(body.name)
      const addresses = readMemberAddresses(body.participants, 'participants')
      const { id, subject, outcomes } = await groups.create(adminOf(deps, params.name, actor), body.name, addresses)
      return reply.code(201).send({ jid: groupJid(id), name: subject, participants: toResults(outcomes) })
    },
  )
  app.delete(
    '/api/instances/:name/groups/:jid',
    {
      schema: {
        ...about('leaveGroup', 'Leave a group'),
        params: GroupParams,
        response: responses({ 200: Type.Object({ jid: GroupJid, left: Type.Boolean() }) }, 404, 409),
      },
    },
    async ({ params: { name, jid }, actor }) => {
      await groups.leave(adminOf(deps, name, actor), groupIdOf(jid))
      return { jid, left: true }
    },
  )
}

function toGroup({ id, owner, createdAt, isLocked, isAnnounce, isEphemeral, members, ...texts }: NamedGroup) {
  return {
    jid: groupJid(id),
    subject: texts.subject,
    topic: texts.topic,
    owner: owner && personJid(owner),
    created_at: createdAt === null ? null : toTimestamp(createdAt),
    is_locked: isLocked,
    is_announce: isAnnounce,
    is_ephemeral: isEphemeral,
    participants: members.map(toParticipant),
  }
}

function toParticipant(member: NamedMember) {
  const { phone, lid, role } = member
  const name = nameOf(member)
  return {
    jid: personJid(member),
    ...(lid !== null && { lid: lidJid(lid) }),
    ...(phone !== null && { phone_number: `+${phone}` }),
    ...(name !== null && { name }),
    role,
    is_admin: role !== 'member',
    is_super_admin: role === 'superadmin',
  }
}
