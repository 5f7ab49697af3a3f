// Default answers to the group queries of clients: reading, creating, changing, joining, leaving.
import type { Directory } from '../server/directory.ts'
import { IqError, type IqHandler, type IqTable } from '../server/iq-router.ts'
import type { User } from '../server/user.ts'
import { child, children, stanza, textOf, type Stanza } from '../wire/stanza.ts'
import { groupNode } from './group-node.ts'
import type { GroupRegistry } from './group-registry.ts'
import { acceptableSubject, memberAnswers } from './member-answers.ts'
import { requestAnswers } from './request-answers.ts'
import type { SimGroup } from './sim-group.ts'

type Deps = { groups: GroupRegistry; directory: Directory }

export function groupAnswers({ groups, directory }: Deps): IqTable {
  return {
    'w:g2 get query': ({ iq, device }) => {
      const group = groups.get(iq.attrs.to)
      group.mustBeMember(device.user)
      return [groupNode(group)]
    },
    'w:g2 get participating': ({ device }) => [stanza('groups', {}, groups.of(device.user).map(groupNode))],
    'w:g2 set leave': ({ device, content }) => {
      for (const one of children(content, 'group')) groups.get(one.attrs.id).leave(device.user)
      return [stanza('leave', {}, children(content, 'group'))]
    },
    ...memberAnswers(groups, directory),
    ...requestAnswers(groups, directory),
    ...settingAnswers(groups),
    ...inviteAnswers(groups),
  }
}

type Change = (group: SimGroup, actor: User, content: Stanza | undefined) => void

const SETTINGS: Record<string, Change> = {
  subject: (group, actor, content) => {
    group.setSubject(actor, acceptableSubject(textOf(content)))
  },
  description: (group, actor, content) => {
    // A description must name the one before: two people do not overwrite each other.
    if (content?.attrs.prev !== group.description?.id) throw new IqError(409, 'conflict')
    group.setDescription(actor, textOf(child(content, 'body')), content?.attrs.id)
  },
  locked: (group, actor) => {
    group.setLocked(actor, true)
  },
  unlocked: (group, actor) => {
    group.setLocked(actor, false)
  },
  announcement: (group, actor) => {
    group.setAnnounce(actor, true)
  },
  not_announcement: (group, actor) => {
    group.setAnnounce(actor, false)
  },
  ephemeral: (group, actor, content) => {
    group.setEphemeral(actor, Number(content?.attrs.expiration ?? '0'))
  },
  membership_approval_mode: (group, actor, content) => {
    group.setApproval(actor, child(content, 'group_join')?.attrs.state === 'on')
  },
  not_ephemeral: (group, actor) => {
    group.setEphemeral(actor, 0)
  },
}

/** Queries that change the group they are addressed to, in the name of the asking user. */
function settingAnswers(groups: GroupRegistry): IqTable {
  const answer =
    (apply: Change): IqHandler =>
    ({ iq, device, content }) => {
      apply(groups.get(iq.attrs.to), device.user, content)
      return []
    }
  return Object.fromEntries(Object.entries(SETTINGS).map(([name, apply]) => [`w:g2 set ${name}`, answer(apply)]))
}

function inviteAnswers(groups: GroupRegistry): IqTable {
  return {
    'w:g2 get invite': ({ iq, device, content }) => {
      const code = content?.attrs.code
      if (code !== undefined) return [groupNode(groups.byInvite(code))]
      const group = groups.get(iq.attrs.to)
      group.mustBeAdmin(device.user)
      return [stanza('invite', { code: group.inviteCode })]
    },
    'w:g2 set invite': ({ iq, device, content }) => {
      const code = content?.attrs.code
      if (code === undefined) return [stanza('invite', { code: groups.get(iq.attrs.to).renewInvite(device.user) })]
      const group = groups.byInvite(code)
      const isIn = group.join(device.user)
      return [stanza(isIn ? 'group' : 'membership_approval_request', { jid: group.jid })]
    },
    'w:g2 set accept': ({ iq, device, content }) => {
      groups.get(iq.attrs.to).accept(device.user, content?.attrs.code)
      return []
    },
  }
}
