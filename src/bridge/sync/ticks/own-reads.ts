// Clears the unread count of a conversation at the helpdesk when the owner has read the chat on the phone.

import { DownstreamError } from '../../../core/downstream.ts'
import type { DestinationKey, InstanceName, RowId } from '../../../core/ids.ts'
import type { Log } from '../../../lib/log.ts'
import type { TickStore } from '../../../storage/stores/messages/tick-store.ts'
import type { ReceiptResult } from './tick-counts.ts'
import type { TargetOf } from './tick-setter.ts'

type Deps = { store: Pick<TickStore, 'hasNewerUnread'>; targetOf: TargetOf; log: Log }

/** `newest` is the newest message that the owner has read. */
export type OwnRead = { instance: InstanceName; destination: DestinationKey; conversationId: number; newest: RowId }

/** Chatwoot marks the whole conversation, so a newer message that the owner has not read keeps it unread. */
export async function markSeenByOwner({ store, targetOf, log }: Deps, read: OwnRead): Promise<ReceiptResult> {
  const { instance, destination, conversationId, newest } = read
  if (await store.hasNewerUnread(destination, conversationId, newest)) return 'filtered'
  try {
    const target = await targetOf(instance)
    if (target?.destination.key !== destination) return 'no_conv'
    await target.helpdesk.markSeen(conversationId)
    // A message may have come between the question and the answer.
    if (!(await store.hasNewerUnread(destination, conversationId, newest))) return 'ok'
    await target.helpdesk.markUnread(conversationId)
    return 'filtered'
  } catch (err) {
    if (!(err instanceof DownstreamError)) throw err
    if (err.failure === 'gone') return 'no_conv'
    log.warn({ err, instance, conversation: conversationId }, 'a conversation could not be marked as seen')
    return 'ds_error'
  }
}
