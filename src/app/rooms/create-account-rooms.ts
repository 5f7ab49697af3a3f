// Creates the linked accounts and the way to their helpdesks.

import type { Base } from '../base.ts'
import { createAccounts } from '../create-accounts.ts'
import { createDownstream, createNotices } from '../create-helpdesk.ts'
import { createRouting } from '../create-tenants.ts'
import { ReceptionRelay } from '../reception-relay.ts'
import { createSettingsOf } from '../settings-of.ts'
import type { Foundation } from './create-foundation.ts'
import type { LaterRooms } from './later-rooms.ts'
import type { RoomOptions } from './room-options.ts'

export type AccountRooms = ReturnType<typeof createAccountRooms>

export function createAccountRooms(base: Base, foundation: Foundation, later: LaterRooms, options: RoomOptions) {
  const { duties, events, traces, storage, nodes, records, lifecycle } = foundation
  const { database, holds, idClock, node } = storage
  const reception = new ReceptionRelay()
  const accounts = createAccounts(base, {
    ...{ database, holds, duties, idClock, lifecycle: lifecycle.lifecycle, reception, events },
    onState: (seen) => {
      records.states.changed(seen)
    },
    qrLifetimeMs: options.qrLifetimeMs,
    hasPeers: nodes.hasPeers,
    isCutOff: () => node?.membership.state === 'isolated',
    isTakingOver: () => later.cluster.get()?.holdings.isTakingOver === true,
  })
  const { instances, roster } = accounts
  later.instances.set(instances)
  const settingsOf = createSettingsOf(base.config, roster)
  const downstream = createDownstream(base, traces)
  const tenants = createRouting(base, { database, holds, downstream })
  const notices = createNotices(base, {
    ...{ settingsOf, instances, routing: tenants.routing, downstream },
    askOwner: (...asked) => later.cluster.get()?.askForCode(...asked),
  })
  return { accounts, reception, settingsOf, downstream, tenants, notices }
}
