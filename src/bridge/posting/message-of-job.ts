// Makes the message that the helpdesk gets: what it answers in its conversation, and which of its texts fits there.

import type { NewMessage } from '../../core/helpdesk/message.ts'
import type { NetworkEvent } from '../../core/message.ts'
import type { MappedMessage } from '../../storage/stores/messages/message-map-store.ts'
import type { PostJob } from './post-job.ts'

type Replies = {
  /** What was posted of this very message before: a notice that stood in for it, or the message of a late file. */
  standIn: MappedMessage | undefined
  /** The message that this one answers, or the notice that stands in for it. */
  original: MappedMessage | undefined
}

export function messageOf(job: PostJob, known: readonly MappedMessage[]): NewMessage {
  const { identity, message, contentAsReply = message.content } = job
  const { standIn, original } = repliesIn(job, known)
  // Beside a notice, the helpdesk does not show what the message answers.
  const isShown = !standIn && original !== undefined && !isNotice(original)
  const content = isShown ? contentAsReply : message.content
  return { ...message, content, sourceId: identity.networkId, inReplyTo: (standIn ?? original)?.messageId ?? null }
}

/** What this message can be a reply to in the same conversation. */
function repliesIn({ identity, conversation, replyTo }: PostJob, known: readonly MappedMessage[]): Replies {
  const here = known.filter(
    ({ destination, conversationId, messageId }) =>
      destination === identity.destination && conversationId === conversation.id && messageId !== null,
  )
  // Members of a group may use the same message id.
  const before = here.filter(
    ({ networkId, sender, kind }) =>
      networkId === identity.networkId && sender === identity.sender && kind !== identity.kind,
  )
  const answered = here.filter(({ networkId }) => networkId === replyTo)
  return { standIn: best(before), original: best(answered) }
}

/** A message that came after its notice is there twice. */
function best(rows: readonly MappedMessage[]): MappedMessage | undefined {
  return rows.find((row) => !isNotice(row)) ?? rows[0]
}

/** Whether the row is a notice about a message that could not be decrypted, not the message itself. */
function isNotice({ kind }: MappedMessage): boolean {
  return kind === ('undecryptable' satisfies NetworkEvent['kind'])
}
