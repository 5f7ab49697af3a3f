// Which helpdesk an outgoing message belongs to: by its instance, or by its row when the instance is gone.

import type { RouteOf } from '../../bridge/conversations/route.ts'
import type { SendingAccounts } from '../../bridge/outbound/send/sending-accounts.ts'
import type { Destination } from '../../core/downstream.ts'
import type { OutboxRow } from '../../storage/stores/messages/outbox-rows.ts'
import type { InboxIdentities } from '../../tenants/inbox-identities.ts'
import type { Routing } from '../../tenants/routing.ts'

type RowRoute = Pick<OutboxRow, 'instance' | 'ownerTag' | 'inboxId' | 'destination'>

export type OutboundRoutes = {
  routeOf: RouteOf
  /** From where the files of a row are fetched. */
  destinationOf: (row: RowRoute) => Promise<Destination | null>
  /** Where the message of a row is. Null when that helpdesk inbox is no longer the one of its instance or its tenant. */
  identifiedOf: (row: RowRoute) => Promise<Destination | null>
}

export function createOutboundRoutes(
  routing: Pick<Routing, 'destinationOf' | 'identifiedOf'>,
  accounts: SendingAccounts,
  identities: Pick<InboxIdentities, 'isSame'>,
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
    identifiedOf: async (row) => {
      for (const route of [accounts.recordOf(row.instance), row]) {
        const found = route && (await routing.identifiedOf(route))
        if (found && identities.isSame(row.destination, found)) return found
      }
      return null
    },
  }
}
