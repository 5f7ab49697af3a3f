// Builds the description of a group that queries and notifications carry.
import type { Addressing, User } from '../server/user.ts'
import { stanza, type Attributes, type Stanza } from '../wire/stanza.ts'

export type GroupRole = 'superadmin' | 'admin' | 'member'
export type GroupDescription = { id: string; body: string; author: User; t: string }
export type GroupFacts = {
  readonly id: string
  readonly addressing: Addressing
  readonly creator: User
  readonly creation: string
  readonly roles: ReadonlyMap<User, GroupRole>
  readonly subject: string
  readonly subjectAuthor: User
  readonly subjectTime: string
  readonly description: GroupDescription | undefined
  readonly locked: boolean
  readonly announce: boolean
  readonly ephemeralSeconds: number
  readonly admission: { readonly needsApproval: boolean }
  readonly community: CommunityPart | undefined
}
/** A community is a group without messages. Its announcement group and its other groups name the community. */
export type CommunityPart = { kind: 'community' } | { kind: 'announcements' | 'group'; parent: string }

export function groupNode(group: GroupFacts): Stanza {
  const { addressing } = group
  const attributes = {
    id: group.id,
    subject: group.subject,
    s_t: group.subjectTime,
    s_o: group.subjectAuthor.jid(addressing),
    s_o_pn: group.subjectAuthor.shownPhone,
    creation: group.creation,
    creator: group.creator.jid(addressing),
    creator_pn: group.creator.shownPhone,
    size: String(group.roles.size),
    addressing_mode: addressing,
  }
  return stanza('group', attributes, [...participantNodes(group), ...settingNodes(group)])
}

function participantNodes(group: GroupFacts): Stanza[] {
  return [...group.roles].map(([user, role]) =>
    stanza('participant', { ...namesIn(group, user), type: role === 'member' ? undefined : role }),
  )
}

/** Both addresses of a user, as the group shows them. */
export function namesIn({ addressing }: Pick<GroupFacts, 'addressing'>, user: User): Attributes {
  const other = addressing === 'lid' ? user.groupPhone() : { lid: user.lidJid }
  return { jid: user.jid(addressing), ...other }
}

function settingNodes(group: GroupFacts): Stanza[] {
  const nodes: Stanza[] = []
  const { description } = group
  if (description) {
    const author = {
      participant: description.author.jid(group.addressing),
      participant_pn: description.author.shownPhone,
    }
    const body = stanza('body', {}, Buffer.from(description.body))
    nodes.push(stanza('description', { id: description.id, t: description.t, ...author }, [body]))
  }
  if (group.locked) nodes.push(stanza('locked'))
  if (group.announce) nodes.push(stanza('announcement'))
  if (group.ephemeralSeconds > 0) nodes.push(stanza('ephemeral', { expiration: String(group.ephemeralSeconds) }))
  if (group.admission.needsApproval) {
    nodes.push(stanza('membership_approval_mode', {}, [stanza('group_join', { state: 'on' })]))
  }
  return [...nodes, ...communityNodes(group.community)]
}

function communityNodes(part: CommunityPart | undefined): Stanza[] {
  if (!part) return []
  if (part.kind === 'community') return [stanza('parent', { default_membership_approval_mode: 'request_required' })]
  const linked = stanza('linked_parent', { jid: part.parent })
  return part.kind === 'announcements' ? [linked, stanza('default_sub_group')] : [linked]
}
