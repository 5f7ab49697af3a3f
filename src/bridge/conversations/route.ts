// Who is to speak, and at which helpdesk it belongs.

import type { Destination } from '../../core/downstream.ts'
import type { InstanceRow } from '../../storage/stores/accounts/instance-rows.ts'

export type Sender = Readonly<
  Pick<InstanceRow, 'name' | 'ownerTag' | 'inboxId' | 'isSpamguardEnabled' | 'state' | 'createdAt'>
>
export type Route = { sender: Sender; destination: Destination | null }
