// Which helpdesk an outgoing message belongs to: by its instance, or by its row when the instance is gone.

import type { RouteOf } from '../../bridge/conversations/route.ts'
import type { SendingAccounts } from '../../bridge/outbound/send/sending-accounts.ts'
import type { Destination } from '../../core/downstream.ts'
import type { OutboxRow } from '../../storage/stores/messages/outbox-rows.ts'
import type { Routing } from '../../tenants/routing.ts'

type RowRoute = Pick<OutboxRow, 'instance' | 'ownerTag' | 'inboxId' | 'destination'>

export type OutboundRoutes = {
  routeOf: RouteOf
  destinationOf: (row: RowRoute) => Promise<Destination | null>
}

export function createOutboundRoutes(
  routing: Pick<Routing, 'destinationOf'>,
  accounts: SendingAccounts,
): OutboundRoutes {
  return {
    routeOf: async (instance) => {
      const sender = accounts.recordOf(instance)
      return sender && { sender, destination: await routing.destinationOf(sender) }
    },
    destinationOf: async ({ instance, ownerTag, inboxId, destination }) => {
      const record = accounts.recordOf(instance)
      const current = record ? await routing.destinationOf(record) : null
      if (current?.key === destination) return current
      return routing.destinationOf({ ownerTag, inboxId })
    },
  }
}
