// The instance that sends a message, and the helpdesk it belongs to.

import type { Destination } from '../../core/downstream.ts'
import type { InstanceName } from '../../core/ids.ts'
import type { InstanceRow } from '../../storage/stores/accounts/instance-rows.ts'

export type Sender = Readonly<
  Pick<InstanceRow, 'name' | 'ownerTag' | 'inboxId' | 'isSpamguardEnabled' | 'state' | 'createdAt'>
>
export type Route = { sender: Sender; destination: Destination | null }

/** Undefined when there is no instance of this name. */
export type RouteOf = (instance: InstanceName) => Promise<Route | undefined>
