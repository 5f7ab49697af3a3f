// The instance that sends a message, and the helpdesk it belongs to.

import type { Destination } from '../../core/downstream.ts'
import type { InstanceRow } from '../../storage/schema.ts'

export type Sender = Readonly<
  Pick<InstanceRow, 'name' | 'owner_tag' | 'inbox_id' | 'spamguard_enabled' | 'state' | 'created_at'>
>
export type Route = { sender: Sender; destination: Destination | null }
