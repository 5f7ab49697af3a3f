// The schemas and the words that the group routes share.

import { Type } from 'typebox'
import type { GroupAdmin } from '../../bridge/groups/group-session.ts'
import type { GroupService } from '../../bridge/groups/group-service.ts'
import { countOf } from '../../bridge/groups/member-outcomes.ts'
import type { MemberOutcome } from '../../bridge/groups/member-outcomes.ts'
import { parseChat } from '../../core/address.ts'
import type { Caller } from '../../core/audit.ts'
import { BridgeError } from '../../core/errors.ts'
import type { InstanceName as Name } from '../../core/ids.ts'
import type { InstanceRegistry } from '../../instances/instance-registry.ts'
import { InstanceName } from '../schemas.ts'

export type GroupDeps = { groups: GroupService; instances: Pick<InstanceRegistry, 'get'> }

/** The most members of a group. */
const mostMembers = 1024

export const GroupJid = Type.String({
  pattern: '^\\d{1,20}(-\\d{1,20})?@g\\.us$',
  description: 'the address of a group, such as 120363000000000001@g.us',
})
export const GroupParams = Type.Object({ name: InstanceName, jid: GroupJid })

/** WhatsApp counts characters, and so does the schema: an emoji of one code point is one. */
export const GroupName = Type.String({
  minLength: 1,
  maxLength: 100,
  description: 'The name; WhatsApp calls it subject',
})

export const People = (description: string) =>
  Type.Array(Type.String({ minLength: 1, maxLength: 64 }), { minItems: 1, maxItems: mostMembers, description })

export const peopleRule = 'Each a jid such as 5511888880001@s.whatsapp.net, or a phone number with its country code'

const MemberResult = Type.Object(
  {
    jid: Type.String(),
    status: Type.Union([Type.Literal('ok'), Type.Literal('failed'), Type.Literal('invited')]),
    code: Type.Optional(Type.String({ description: "WhatsApp's code of the refusal" })),
  },
  { title: 'MemberResult' },
)
export const MemberResults = Type.Array(MemberResult)

export const about = (operationId: string, summary: string) => ({ operationId, summary, tags: ['groups'] })

/** Throws SERVICE_INSTANCE_NOT_FOUND. */
export function adminOf({ instances }: Pick<GroupDeps, 'instances'>, name: Name, actor: Caller): GroupAdmin {
  const { name: instance, ownerTag } = instances.get(name).record
  return { instance, ownerTag, actor }
}

/** The jid has passed the schema of the path. */
export function groupIdOf(jid: string): string {
  const chat = parseChat(jid)
  if (chat?.kind !== 'group') throw new BridgeError('SERVICE_BAD_REQUEST', 'jid is not the address of a group')
  return chat.id
}

export function toResults(outcomes: readonly MemberOutcome[]) {
  return outcomes.map(({ address, status, code }) => ({ jid: address, status, ...(code !== null && { code }) }))
}

export function toChangeAnswer<Action extends string>(jid: string, action: Action, outcomes: readonly MemberOutcome[]) {
  return { jid, action, count: countOf(outcomes).ok, results: toResults(outcomes) }
}

/** A name of spaces alone would be shown as nothing. */
export function refuseBlankName(name: string): void {
  if (name.trim() === '') throw new BridgeError('SERVICE_BAD_REQUEST', 'name must not be empty')
}
