// Control of groups: creating them and changing them in somebody's name.
import type { SimGroup } from '../network/groups/sim-group.ts'
import type { User } from '../network/server/user.ts'
import type { SimNetwork } from '../network/sim-network.ts'
import { ControlError } from './fields.ts'
import type { Call, RouteTable } from './http-service.ts'
import { groupView } from './views.ts'
import { correspondentAt } from './write-message.ts'

export function groupRoutes(network: SimNetwork): RouteTable {
  /** The group of the path and who acts: `by`, else the creator. */
  const scene = ({ params, body }: Call): { group: SimGroup; actor: User } => {
    const group = network.groups.find(params.jid ?? '')
    if (!group) throw new ControlError(404, `there is no group ${params.jid ?? ''}`)
    const by = body.optionalText('by')
    return { group, actor: by === undefined ? group.creator : correspondentAt(network, by).user }
  }
  const change =
    (apply: (group: SimGroup, actor: User, body: Call['body']) => void) =>
    (call: Call): Record<string, unknown> => {
      const { group, actor } = scene(call)
      apply(group, actor, call.body)
      return groupView(group)
    }
  return {
    'POST /groups': ({ body }) => {
      const participants = body.texts('participants').map((phone) => correspondentAt(network, phone))
      const addressing = body.oneOf('addressing', ['lid', 'pn'], 'lid')
      const creator = correspondentAt(network, body.text('creator'))
      return groupView(network.group(body.text('subject'), creator, participants, addressing))
    },
    'GET /groups/:jid': (call) => groupView(scene(call).group),
    'POST /groups/:jid/subject': change((group, actor, body) => {
      group.setSubject(actor, body.text('subject'))
    }),
    'POST /groups/:jid/description': change((group, actor, body) => {
      group.setDescription(actor, body.optionalText('description'))
    }),
    'POST /groups/:jid/locked': change((group, actor, body) => {
      group.setLocked(actor, body.flag('locked') ?? true)
    }),
    'POST /groups/:jid/announce': change((group, actor, body) => {
      group.setAnnounce(actor, body.flag('announce') ?? true)
    }),
    'POST /groups/:jid/ephemeral': change((group, actor, body) => {
      group.setEphemeral(actor, body.number('seconds'))
    }),
    'POST /groups/:jid/participants': (call) => {
      const { group, actor } = scene(call)
      const action = call.body.oneOf('action', ['add', 'remove', 'promote', 'demote'])
      const results = call.body.texts('participants').map((phone) => ({
        phone,
        status: group.change(actor, action, correspondentAt(network, phone).user),
      }))
      return { ...groupView(group), results }
    },
    'POST /groups/:jid/leave': (call) => {
      const { group } = scene(call)
      group.leave(correspondentAt(network, call.body.text('who')).user)
      return groupView(group)
    },
  }
}
