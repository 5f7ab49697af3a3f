// What the parts that sync with the helpdesk are created with.

import type { ContactNames } from '../../bridge/conversations/contact-names.ts'
import type { ConversationDirectory } from '../../bridge/conversations/conversation-directory.ts'
import type { EventContexts } from '../../bridge/conversations/event-context.ts'
import type { OwnChanges } from '../../bridge/conversations/own-changes.ts'
import type { GroupDirectory } from '../../bridge/people/group-directory.ts'
import type { People } from '../../bridge/people/people.ts'
import type { HeaderHistory } from '../../bridge/sync/names/header-history.ts'
import type { Destination, HelpdeskInbox } from '../../core/downstream.ts'
import type { HelpdeskDatabase } from '../../core/helpdesk/helpdesk-database.ts'
import type { InstanceName } from '../../core/ids.ts'
import type { NetworkSession } from '../../core/network.ts'
import type { InboundParts } from '../inbound/inbound-parts.ts'

export type SyncParts = Pick<
  InboundParts,
  | ('config' | 'settingsOf' | 'clock' | 'log' | 'database' | 'holds' | 'duties' | 'instances' | 'metrics')
  | ('downstream' | 'routing' | 'identities' | 'traces')
> & {
  /** Ends what is created here. */
  stack: AsyncDisposableStack
  people: People
  groups: GroupDirectory
  conversations: ConversationDirectory
  contexts: EventContexts
  contactNames: ContactNames
  headerHistory: HeaderHistory
  ownChanges: OwnChanges
  /** Null without DOWNSTREAM_DB_URL. */
  helpdeskDatabase: Pick<HelpdeskDatabase, 'serves' | 'rewriteHeaders'> | null
  /** Undefined while the instance is not connected. */
  sessionOf: (instance: InstanceName) => NetworkSession | undefined
  /** Whether received messages of the instance are under way to the helpdesk. */
  isBusy: (instance: InstanceName) => boolean
  /** The helpdesk inbox of the instance, held or not; null when there is none. Rejects when it cannot be identified. */
  targetOf: (instance: InstanceName) => Promise<{
    instance: InstanceName
    destination: Destination
    helpdesk: HelpdeskInbox
  } | null>
}
