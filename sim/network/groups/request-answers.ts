// Default answers about requests to join a group: reading and deciding them.
import type { Directory } from '../server/directory.ts'
import { IqError, type IqTable } from '../server/iq-router.ts'
import { allChildren, stanza } from '../wire/stanza.ts'
import { namesIn } from './group-node.ts'
import type { GroupRegistry } from './group-registry.ts'
import { resultsOf } from './member-answers.ts'

export function requestAnswers(groups: GroupRegistry, directory: Directory): IqTable {
  return {
    'w:g2 get membership_approval_requests': ({ iq, device }) => {
      const group = groups.get(iq.attrs.to)
      group.mustBeAdmin(device.user)
      const requests = [...group.admission.requests].map(([user, time]) =>
        stanza('membership_approval_request', {
          ...namesIn(group, user),
          request_time: time,
          request_method: 'invite_link',
        }),
      )
      return [stanza('membership_approval_requests', {}, requests)]
    },
    'w:g2 set membership_requests_action': ({ iq, device, content }) => {
      const group = groups.get(iq.attrs.to)
      group.mustBeAdmin(device.user)
      const [decision] = allChildren(content)
      const action = decision?.tag
      if (action !== 'approve' && action !== 'reject') throw new IqError(400, 'bad-request')
      const decide = resultsOf(action, group, decision, directory, (user) => group.decide(device.user, action, user))
      return [stanza('membership_requests_action', {}, [decide])]
    },
  }
}
