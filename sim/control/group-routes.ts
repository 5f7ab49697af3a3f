// Control routes of groups: creating a group, and changing it in the name of a member.
import type { SimGroup } from '../network/groups/sim-group.ts'
import type { User } from '../network/server/user.ts'
import type { SimNetwork } from '../network/sim-network.ts'
import { ControlError } from './fields.ts'
import type { Call, RouteTable } from './route-table.ts'
import { groupView } from './views.ts'
import { correspondentAt } from './write-message.ts'

type GroupCall = { group: SimGroup; actor: User; body: Call['body'] }

export function groupRoutes(network: SimNetwork): RouteTable {
  /** The group of the path and the acting user: the one in `by`, or the creator. */
  const parse = ({ params, body }: Call): GroupCall => {
    const group = network.groups.find(params.jid ?? '')
    if (!group) throw new ControlError(404, `there is no group ${params.jid ?? ''}`)
    const by = body.optionalText('by')
    return { group, actor: by === undefined ? group.creator : correspondentAt(network, by).user, body }
  }
  const changes = Object.entries(CHANGES).map(([name, apply]) => {
    const handler = (call: Call): Record<string, unknown> => {
      const parsed = parse(call)
      apply(parsed)
      return groupView(parsed.group)
    }
    return [`POST /groups/:jid/${name}`, handler] as const
  })
  return {
    'POST /groups': ({ body }) => {
      const participants = body.texts('participants').map((phone) => correspondentAt(network, phone))
      const addressing = body.oneOf('addressing', ['lid', 'pn'], 'lid')
      const creator = correspondentAt(network, body.text('creator'))
      return groupView(network.group(body.text('subject'), creator, participants, addressing))
    },
    'GET /groups/:jid': (call) => groupView(parse(call).group),
    'POST /groups/:jid/participants': (call) => {
      const { group, actor, body } = parse(call)
      const action = body.oneOf('action', ['add', 'remove', 'promote', 'demote'])
      const results = body.texts('participants').map((phone) => ({
        phone,
        status: group.change(actor, action, correspondentAt(network, phone).user),
      }))
      return { ...groupView(group), results }
    },
    'POST /groups/:jid/join': (call) => {
      const { group, body } = parse(call)
      group.join(correspondentAt(network, body.text('who')).user)
      return groupView(group)
    },
    'POST /groups/:jid/leave': (call) => {
      const { group, body } = parse(call)
      group.leave(correspondentAt(network, body.text('who')).user)
      return groupView(group)
    },
    ...Object.fromEntries(changes),
  }
}

const CHANGES: Record<string, (call: GroupCall) => void> = {
  subject: ({ group, actor, body }) => {
    group.setSubject(actor, body.text('subject'))
  },
  description: ({ group, actor, body }) => {
    group.setDescription(actor, body.optionalText('description'))
  },
  locked: ({ group, actor, body }) => {
    group.setLocked(actor, body.flag('locked') ?? true)
  },
  announce: ({ group, actor, body }) => {
    group.setAnnounce(actor, body.flag('announce') ?? true)
  },
  approval: ({ group, actor, body }) => {
    group.setApproval(actor, body.flag('on') ?? true)
  },
  ephemeral: ({ group, actor, body }) => {
    group.setEphemeral(actor, body.number('seconds'))
  },
}
