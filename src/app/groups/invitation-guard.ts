// Holds invitations to groups to the same limits as messages of agents, and counts them alike.

import type { InvitationGuard } from '../../bridge/groups/group-invitations.ts'
import type { GroupAdmin } from '../../bridge/groups/group-session.ts'
import type { OutboundMetrics } from '../../bridge/outbound/send/outbound-metrics.ts'
import type { Recipients } from '../../bridge/outbound/send/recipients.ts'
import { firstMessageCode } from '../../bridge/outbound/send/row-sender.ts'
import { restrictedNow } from '../../bridge/outbound/send/send-preparation.ts'
import { SendRefusal } from '../../bridge/outbound/compose/send-refusal.ts'
import { parseChat } from '../../core/address.ts'
import type { Jid } from '../../core/ids.ts'
import { SendError } from '../../core/network.ts'
import type { Acquired, Pace } from '../../guard/pace.ts'
import type { Restrictions } from '../../guard/restrictions.ts'

export type GuardParts = {
  recipients: Pick<Recipients, 'refOf' | 'hasWritten' | 'addressOf'>
  restrictions: Pick<Restrictions, 'stopOf' | 'record'>
  pace: Pick<Pace, 'tryAcquire' | 'isExhausted'>
  metrics: Pick<OutboundMetrics, 'acknowledged' | 'lost' | 'strike'>
}

export function createInvitationGuard(parts: GuardParts): InvitationGuard {
  const { recipients, restrictions, pace, metrics } = parts
  return {
    async admit(who, address, session) {
      const { instance } = who
      const chat = parseChat(address)
      // Before the network is asked about the person.
      if (!chat || pace.isExhausted(instance)) return null
      const ref = await recipients.refOf(instance, chat)
      if (restrictions.stopOf(instance) && !(await recipients.hasWritten(instance, ref))) return null
      const found = await recipients.addressOf(instance, ref, session).catch(nullWhenUnknown)
      const place = found && pace.tryAcquire(instance)
      if (!place) return null
      const { jid, isFirst } = found
      return {
        address: jid,
        isFirst,
        sent: () => {
          metrics.acknowledged(who, jid, 'text')
        },
        failed: (error) => noteFailure(parts, { who, jid, place }, error),
      }
    },
  }
}

function nullWhenUnknown(error: unknown): null {
  if (error instanceof SendRefusal) return null
  throw error
}

async function noteFailure(
  { restrictions, metrics }: GuardParts,
  { who, jid, place }: { who: GroupAdmin; jid: Jid; place: Acquired },
  error: unknown,
): Promise<void> {
  metrics.lost(who, jid, 'text')
  if (!(error instanceof SendError)) return
  if (error.outcome === 'not_sent') place.giveBack()
  if (error.code !== firstMessageCode) return
  const meaning = await restrictions.record(who.instance)
  if (meaning === 'strike') metrics.strike(who.instance, firstMessageCode, restrictedNow)
}
