// The kinds of history that a phone sends, and what each of them means for the service.
//
// A phone that links a companion sends INITIAL_BOOTSTRAP (the chats and their newest messages), PUSH_NAME, NON_BLOCKING_DATA and
// then RECENT in several files, of which the last one has the progress 100. If the pairing asked for the full history
// (requireFullSync), FULL follows in the same way with older messages. A phone without older messages may leave FULL out, so the
// last file may never be announced.

import type { PastCause } from '../../core/history/past-events.ts'
import { proto } from '../library/library.ts'

type Notification = proto.Message.IHistorySyncNotification

const { HistorySyncType: Kind } = proto.Message
const complete = 100
const ofPairing = new Set([Kind.INITIAL_BOOTSTRAP, Kind.RECENT, Kind.FULL])
/** Kinds that say only why there is no history. */
const withoutHistory = new Set([Kind.NO_HISTORY, Kind.MESSAGE_ACCESS_STATUS])

/** Undefined for a history without messages of chats. */
export function causeOf({ syncType }: Notification): PastCause | undefined {
  if (syncType === Kind.ON_DEMAND) return 'request'
  // The first kind is the default, which the phone may leave out.
  return ofPairing.has(syncType ?? Kind.INITIAL_BOOTSTRAP) ? 'pairing' : undefined
}

export function hasHistory({ syncType }: Notification): boolean {
  return syncType == null || !withoutHistory.has(syncType)
}

/** Whether the phone says that no other file of the pairing follows. */
export function isLast({ syncType, progress }: Notification, asksForAll: boolean): boolean {
  return syncType === (asksForAll ? Kind.FULL : Kind.RECENT) && (progress ?? 0) >= complete
}
