// Default answers to the group queries of clients: reading, creating, changing, joining, leaving.
import type { Directory } from '../server/directory.ts'
import { IqError, type IqHandler, type IqTable, type Query } from '../server/iq-router.ts'
import type { User } from '../server/user.ts'
import { child, children, stanza, textOf, type Stanza } from '../wire/stanza.ts'
import { groupNode } from './group-node.ts'
import type { GroupRegistry } from './group-registry.ts'
import type { ParticipantChange, SimGroup } from './sim-group.ts'

type Deps = { groups: GroupRegistry; directory: Directory }

export function groupAnswers({ groups, directory }: Deps): IqTable {
  const participants = (action: ParticipantChange): IqHandler => {
    return (query) => [changeParticipants(query, action, groups, directory)]
  }
  return {
    'w:g2 get query': ({ iq, device }) => {
      const group = groups.get(iq.attrs.to)
      group.mustBeMember(device.user)
      return [groupNode(group)]
    },
    'w:g2 get participating': ({ device }) => [stanza('groups', {}, groups.of(device.user).map(groupNode))],
    'w:g2 set create': ({ device, content }) => {
      const users = usersIn(content, directory).flatMap(({ user }) => (user ? [user] : []))
      const subject = content?.attrs.subject ?? ''
      return [groupNode(groups.create({ subject, creator: device.user, participants: users }))]
    },
    'w:g2 set leave': ({ device, content }) => {
      for (const one of children(content, 'group')) groups.get(one.attrs.id).leave(device.user)
      return [stanza('leave', {}, children(content, 'group'))]
    },
    'w:g2 set add': participants('add'),
    'w:g2 set remove': participants('remove'),
    'w:g2 set promote': participants('promote'),
    'w:g2 set demote': participants('demote'),
    ...settingAnswers(groups),
    ...inviteAnswers(groups),
  }
}

type Change = (group: SimGroup, actor: User, content: Stanza | undefined) => void

const SETTINGS: Record<string, Change> = {
  subject: (group, actor, content) => {
    group.setSubject(actor, textOf(content) ?? '')
  },
  description: (group, actor, content) => {
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
      group.mustBeMember(device.user)
      return [stanza('invite', { code: group.inviteCode })]
    },
    'w:g2 set invite': ({ iq, device, content }) => {
      const code = content?.attrs.code
      if (code === undefined) return [stanza('invite', { code: groups.get(iq.attrs.to).renewInvite(device.user) })]
      const group = groups.byInvite(code)
      group.join(device.user)
      return [stanza('group', { jid: group.jid })]
    },
  }
}

function usersIn(node: Stanza | undefined, directory: Directory): { jid: string; user: User | undefined }[] {
  return children(node, 'participant').map(({ attrs }) => {
    const { jid } = attrs
    if (jid === undefined) throw new IqError(400, 'bad-request')
    return { jid, user: directory.find(jid) }
  })
}

function changeParticipants(
  { iq, device, content }: Query,
  action: ParticipantChange,
  groups: GroupRegistry,
  directory: Directory,
): Stanza {
  const group = groups.get(iq.attrs.to)
  const results = usersIn(content, directory).map(({ jid, user }) => {
    const outcome = user ? group.change(device.user, action, user) : 404
    return stanza('participant', { jid, error: outcome === 200 ? undefined : String(outcome) })
  })
  return stanza(action, {}, results)
}
