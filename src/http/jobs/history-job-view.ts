// Translates the jobs that import history to the JSON of the API.

import { Type } from 'typebox'
import type { Static } from 'typebox'
import type { InstanceName } from '../../core/ids.ts'
import type { ImportProgress, ImportResult } from '../../core/jobs/history-jobs.ts'
import { nullable, Timestamp, toTimestamp } from '../schemas.ts'

export const ImportedAll = Type.Object(
  {
    instance: Type.String(),
    chats: Type.Integer({ description: 'Chats that are known' }),
    scanned: Type.Integer({ description: 'Chats that were looked at: the sum of the next four' }),
    imported: Type.Integer({ description: 'Chats of which at least one message was posted' }),
    skipped: Type.Integer({ description: 'Chats without a new message' }),
    no_anchor: Type.Integer({ description: 'Chats of which no message is known, so the phone cannot be asked' }),
    errors: Type.Integer({ description: 'Chats that could not be imported' }),
    posted: Type.Integer({ description: 'Messages that were posted to the helpdesk' }),
  },
  { title: 'ImportedHistory' },
)

const Seconds = (which: string) =>
  Type.Integer({ description: `The time of the ${which} message in Unix seconds; 0 when there is none` })

export const ImportedChat = Type.Object(
  {
    instance: Type.String(),
    conversations: Type.Integer({ description: 'Conversations that got messages' }),
    messages_seen: Type.Integer({ description: 'Messages that the phone sent' }),
    messages_kept: Type.Integer({ description: 'Messages within the days that say something to agents' }),
    posted: Type.Integer({ description: 'Messages that were posted to the helpdesk' }),
    skipped: Type.Integer({ description: 'Messages that the helpdesk had already' }),
    errors: Type.Integer({ description: 'Messages that could not be posted' }),
    oldest_ts: Seconds('oldest kept'),
    newest_ts: Seconds('newest kept'),
  },
  { title: 'ImportedChat' },
)

export const ImportProgressBody = Type.Object(
  {
    done: Type.Integer({ description: 'Chats that are done' }),
    total: Type.Integer({ description: 'All chats of the job' }),
    messages_seen: Type.Integer(),
    messages_kept: Type.Integer(),
    posted: Type.Integer(),
    skipped: Type.Integer(),
    errors: Type.Integer(),
    estimated_end_at: nullable(Timestamp),
  },
  { title: 'ImportProgress', description: 'The counts other than done and total are messages' },
)

export function toImportedAll(instance: InstanceName, result: ImportResult): Static<typeof ImportedAll> {
  const { chats, scanned, imported, skipped, noAnchor, errors, posted } = result
  return { instance, chats, scanned, imported, skipped, no_anchor: noAnchor, errors, posted }
}

/** The result of the import of one chat. A chat that failed as a whole counts as one error. */
export function toImportedChat(instance: InstanceName, result: ImportResult): Static<typeof ImportedChat> {
  return {
    instance,
    conversations: result.imported,
    messages_seen: result.messagesSeen,
    messages_kept: result.messagesKept,
    posted: result.posted,
    skipped: result.messagesSkipped,
    errors: Math.max(result.messageErrors, result.errors),
    oldest_ts: toSeconds(result.oldestAt),
    newest_ts: toSeconds(result.newestAt),
  }
}

export function toImportProgress({
  seen,
  kept,
  estimatedEndAt,
  ...counts
}: ImportProgress): Static<typeof ImportProgressBody> {
  const estimated_end_at = estimatedEndAt === null ? null : toTimestamp(estimatedEndAt)
  return { ...counts, messages_seen: seen, messages_kept: kept, estimated_end_at }
}

function toSeconds(at: number | null): number {
  return Math.floor((at ?? 0) / 1000)
}
