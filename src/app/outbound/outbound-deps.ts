// What the parts of the outbound path are created with.

import type { ConversationDirectory } from '../../bridge/conversations/conversation-directory.ts'
import type { OfferedChoices } from '../../bridge/conversations/offered-choices.ts'
import type { LostCallbacks } from '../../bridge/conversations/lost-callbacks.ts'
import type { ActivityListener } from '../../bridge/outbound/agent-activity.ts'
import type { TellOwner } from '../../bridge/outbound/stand-in/owner-queue.ts'
import type { SendStep } from '../../bridge/outbound/send/row-sender.ts'
import type { AccountDirectory, AccountRoster } from '../../bridge/outbound/send/sending-accounts.ts'
import type { People } from '../../bridge/people/people.ts'
import type { Config } from '../../config/config.ts'
import type { SettingsOf } from '../../core/chosen-settings.ts'
import type { Downstream } from '../../core/downstream.ts'
import type { ConversationLabels } from '../../core/sync/labels.ts'
import type { Traces } from '../../core/trace/traces.ts'
import type { MembersQuestion } from '../../core/group-administration.ts'
import type { DestinationKey, InstanceName, RowId } from '../../core/ids.ts'
import type { Duties } from '../../core/nodes/duties.ts'
import type { Holds } from '../../core/nodes/hold.ts'
import type { Metrics } from '../../ledger/metrics.ts'
import type { Usage } from '../../ledger/usage.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import type { Database } from '../../storage/database.ts'
import type { InboxIdentities } from '../../tenants/inbox-identities.ts'
import type { Routing } from '../../tenants/routing.ts'

export type OutboundDeps = {
  config: Pick<Config, 'outbound' | 'storage' | 'sync'>
  settingsOf: SettingsOf
  database: Database
  holds: Holds
  duties: Duties
  /** The time of new ids of rows. */
  idClock?: Pick<Clock, 'now'>
  people: People
  conversations: Pick<ConversationDirectory, 'mayBeResolved'>
  choices: Pick<OfferedChoices, 'offered'>
  lostCallbacks: Pick<LostCallbacks, 'heard' | 'onFailedMessage'>
  /** Those that this node holds. */
  accounts: AccountDirectory
  /** All of them. */
  roster: AccountRoster
  routing: Routing
  identities: Pick<InboxIdentities, 'isSame'>
  downstream: Downstream
  metrics: Metrics
  usage: Usage
  traces: Traces
  /** Called between the steps of a send, which waits for the promise. */
  onSendStep: (step: SendStep) => Promise<void>
  onOperationsMessage: (
    instance: InstanceName,
    text: string,
    destinationKey: DestinationKey,
  ) => Promise<void> | undefined
  /** The inbox may have this new row: a direct message that the helpdesk must get. */
  onInboxRow: (instance: InstanceName, id: RowId) => void
  /** An agent asked for the members of a group. */
  onMembersAsked: (question: MembersQuestion) => void
  /** The labels of a conversation were changed. Resolves when that is stored, or when storage has failed. */
  onLabelled: (labels: ConversationLabels) => Promise<void>
  /** Is created later. */
  activityListener: () => ActivityListener
  clock: Clock
  log: Log
  stack: AsyncDisposableStack
  /** Whether other nodes may store messages for the instances of this one. */
  hasPeers: () => boolean
  /** The owner of the instance has new rows of it. */
  tellOwner: TellOwner
  /** Called when the instance has more or fewer messages in its outbox. */
  onCounted?: ((instance: InstanceName) => void) | undefined
}
