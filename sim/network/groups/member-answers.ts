// Default answers to queries that create groups and change members: one result for each person.
import type { Directory } from '../server/directory.ts'
import { IqError, type IqHandler, type IqTable } from '../server/iq-router.ts'
import type { User } from '../server/user.ts'
import { children, stanza, type Stanza } from '../wire/stanza.ts'
import { groupNode, namesIn } from './group-node.ts'
import type { GroupRegistry } from './group-registry.ts'
import type { ParticipantChange, SimGroup } from './sim-group.ts'

const CHANGES: ParticipantChange[] = ['add', 'remove', 'promote', 'demote']
const LONGEST_SUBJECT = 100

export function memberAnswers(groups: GroupRegistry, directory: Directory): IqTable {
  const answer =
    (action: ParticipantChange): IqHandler =>
    ({ iq, device, content }) => {
      const group = groups.get(iq.attrs.to)
      group.mustBeAdmin(device.user)
      return [resultsOf(action, group, content, directory, (user) => group.change(device.user, action, user))]
    }
  return {
    'w:g2 set create': ({ device, content }) => {
      const asked = usersIn(content, directory)
      const participants = asked.flatMap(({ user }) => (user && !user.refusesGroups ? [user] : []))
      const subject = acceptableSubject(content?.attrs.subject)
      const group = groups.create({ subject, creator: device.user, participants })
      const refused = asked.flatMap(({ jid, user }) => {
        if (user && group.roles.has(user)) return []
        return resultOf(group, jid, user, user ? group.admission.check(user, group.roles.size) : 404)
      })
      const node = groupNode(group)
      return [{ ...node, content: [...(node.content as Stanza[]), ...refused] }]
    },
    ...Object.fromEntries(CHANGES.map((action) => [`w:g2 set ${action}`, answer(action)])),
  }
}

/** The subject of a group has 1 to 100 characters. */
export function acceptableSubject(subject = ''): string {
  if (subject === '' || Array.from(subject).length > LONGEST_SUBJECT) throw new IqError(406, 'not-acceptable')
  return subject
}

/** What became of every person in the question. */
export function resultsOf(
  tag: string,
  group: SimGroup,
  content: Stanza | undefined,
  directory: Directory,
  decide: (user: User) => number,
): Stanza {
  const results = usersIn(content, directory).map(({ jid, user }) =>
    resultOf(group, jid, user, user ? decide(user) : 404),
  )
  return stanza(tag, {}, results)
}

/** The server names a person in the addressing of the group, also if the question used the other address. */
function resultOf(group: SimGroup, jid: string, user: User | undefined, code: number): Stanza {
  const names = user ? namesIn(group, user) : { jid }
  const invitation = user && code === 403 ? group.admission.invitationOf(user) : undefined
  const attributes = { ...names, error: code === 200 ? undefined : String(code) }
  if (!invitation) return stanza('participant', attributes)
  const request = { code: invitation.code, expiration: String(invitation.expiration) }
  return stanza('participant', attributes, [stanza('add_request', request)])
}

function usersIn(node: Stanza | undefined, directory: Directory): { jid: string; user: User | undefined }[] {
  return children(node, 'participant').map(({ attrs }) => {
    const { jid } = attrs
    if (jid === undefined) throw new IqError(400, 'bad-request')
    return { jid, user: directory.find(jid) }
  })
}
