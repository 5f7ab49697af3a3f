// The words for outgoing messages: a row per accepted message, its parts, its states and the transitions between them.

import type { Attachment } from './helpdesk/callback.ts'
import type { NetworkMessageId } from './ids.ts'
import type { MessageKey } from './message.ts'
import { shownStates } from './shown.ts'
import type { Known, Shown } from './shown.ts'

/**
 * pending  accepted, and no frame is leaving: the row waits for a connection, for its turn or for the next attempt
 * sending  a frame may be leaving right now
 * sent     the network acknowledged every part
 * failed, expired   will not be sent unless the agent asks again
 * refused  was never accepted (filtered, no room, too late), and is kept only so that the agent can ask again
 */
export const outboxStatuses = ['pending', 'sending', 'sent', 'failed', 'expired', 'refused'] as const
export type OutboxStatus = (typeof outboxStatuses)[number]

const knownByStatus: Record<OutboxStatus, Known> = {
  pending: 'open',
  sending: 'open',
  sent: 'sent',
  failed: 'unsent',
  expired: 'unsent',
  refused: 'unsent',
}

/** What the status of a row says about its message. */
export function knownOf(status: OutboxStatus): Known {
  return knownByStatus[status]
}

type Transition = {
  /** The statuses in which a row can make the transition. Without any, the transition creates the row. */
  from: readonly OutboxStatus[]
  to: OutboxStatus | 'same' | 'deleted'
  /** What the helpdesk shows (core/shown.ts). `from`: what allows the transition (anything, when left out). `to`: what can follow. */
  shown?: { from?: readonly Shown[]; to: readonly Shown[] }
  /** The classes that decide on the transition, or the background worker. */
  who: string
  meaning: string
}

const live: readonly OutboxStatus[] = ['pending', 'sending']
const unsent: readonly OutboxStatus[] = ['failed', 'expired', 'refused']
const all: readonly OutboxStatus[] = [...live, 'sent', ...unsent]
const unanswered = { to: ['unsure'] } as const

/**
 * Every way in which a row can change its state. The stores build the conditions of their statements from this table. Only
 * `prune` does not: its statement asks for `settled_at`, which exactly the rows in its states have.
 */
export const outboxTransitions = {
  accept: {
    from: [],
    to: 'pending',
    shown: unanswered,
    who: 'MessageStorage, MessageDeletions',
    meaning: 'The message is stored and will be sent.',
  },
  acceptClaimed: {
    from: [],
    to: 'sending',
    shown: unanswered,
    who: 'MessageStorage',
    meaning: 'The message is stored, and its frame leaves right after this commit (immediate send).',
  },
  keepRefused: {
    from: [],
    to: 'refused',
    shown: unanswered,
    who: 'SendGuards, MessageStorage',
    meaning:
      'The message is filtered, has no recipient here, cannot be sent as it is, its callback is too old, history is in its conversation, or too many messages wait.',
  },
  keepChange: {
    from: [],
    to: 'refused',
    shown: { to: ['unsure', 'failed'] },
    who: 'RetryRequests',
    meaning:
      'The helpdesk says that a message changed, and the callback of the message has not come. The change may be a Retry or a failure, so the row keeps the message for a look.',
  },
  recover: {
    from: ['sending'],
    to: 'pending',
    who: 'OutboxWorker',
    meaning: 'The process that was sending the row ended.',
  },
  claim: { from: ['pending'], to: 'sending', who: 'RowSender', meaning: 'The first frame of an attempt leaves.' },
  unclaim: {
    from: ['sending'],
    to: 'pending',
    who: 'RowAttempts',
    meaning: 'The connection was lost before the frame of an immediate send left.',
  },
  saveParts: {
    from: ['sending'],
    to: 'same',
    who: 'RowSender',
    meaning: 'A part was acknowledged, and the next one leaves.',
  },
  markSent: { from: ['sending'], to: 'sent', who: 'RowSender', meaning: 'The network acknowledged the last part.' },
  postpone: {
    from: live,
    to: 'pending',
    who: 'RowAttempts',
    meaning: 'The attempt failed, and a later one may succeed.',
  },
  startWaiting: { from: live, to: 'same', who: 'OutboxWorker', meaning: 'The connection is gone: the row can expire.' },
  stopWaiting: {
    from: live,
    to: 'same',
    who: 'OutboxWorker',
    meaning: 'The account is connected: the row cannot expire.',
  },
  fail: { from: live, to: 'failed', who: 'RowOutcomes', meaning: 'The message will not be sent.' },
  cancel: { from: ['pending'], to: 'failed', who: 'MessageDeletions', meaning: 'The agent deleted the message.' },
  expire: {
    from: ['pending'],
    to: 'expired',
    who: 'RowOutcomes',
    meaning: 'The row waited five minutes for a connection.',
  },
  withdraw: {
    from: live,
    to: 'refused',
    shown: { from: ['unsure'], to: ['unsure'] },
    who: 'UndecidedRows',
    meaning: 'The row was stored too late: the helpdesk was already told that the message failed.',
  },
  confirm: {
    from: live,
    to: 'same',
    shown: { from: ['unsure'], to: ['sent'] },
    who: 'ConfirmedRows',
    meaning: 'Another node answers the callback of the message: the row must not be withdrawn any more.',
  },
  noteAnswer: {
    from: all,
    to: 'same',
    shown: { from: ['unsure'], to: ['sent'] },
    who: 'GivenAnswers',
    meaning: 'The callback of the message was answered in time.',
  },
  noteFailure: {
    from: unsent,
    to: 'same',
    shown: { from: ['unsure', 'sent'], to: ['failed'] },
    who: 'RetryRequests',
    meaning:
      'The helpdesk says that it shows a failure: when it shows the message as sent again, the agent pressed Retry.',
  },
  planLook: {
    from: all,
    to: 'same',
    who: 'RetryRequests, ShownWorker, TickWorker',
    meaning: 'The helpdesk may show something else than we know: we will look.',
  },
  planUnsure: {
    from: all,
    to: 'same',
    shown: { from: ['unsure'], to: ['unsure'] },
    who: 'ShownWorker',
    meaning: 'The row is still unsure ten seconds after it was accepted: we will look.',
  },
  lookAgain: {
    from: ['refused'],
    to: 'same',
    who: 'MessageStorage',
    meaning: 'A new row accepts the same message: the helpdesk must no longer show it as failed.',
  },
  ask: {
    from: unsent,
    to: 'same',
    who: 'RetryRequests',
    meaning: 'The agent may have pressed Retry: we will look.',
  },
  saveLook: {
    from: all,
    to: 'same',
    shown: { to: shownStates },
    who: 'ShownWorker',
    meaning: 'We looked, and perhaps set a status at the helpdesk, or we will look later.',
  },
  retry: {
    from: unsent,
    to: 'pending',
    shown: { from: ['unsure', 'failed', 'told'], to: ['sent'] },
    who: 'ShownWorker',
    meaning: 'The agent pressed Retry: the message is sent again.',
  },
  discard: {
    from: ['refused'],
    to: 'deleted',
    who: 'ShownWorker, MessageDeletions',
    meaning:
      'The row was made from a change of its message, and is not needed: the change was no Retry, the callback of the message has come, or the agent deleted the message.',
  },
  restore: {
    from: [...live, ...unsent],
    to: 'failed',
    shown: { to: ['sent'] },
    who: 'RestoredStore',
    meaning:
      'The database comes from a backup. The message may have been sent after the backup, so it is sent again only if the agent asks.',
  },
  prune: {
    from: ['sent', ...unsent],
    to: 'deleted',
    who: 'background worker outbox-prune',
    meaning: 'The row finished 30 days ago.',
  },
} as const satisfies Record<string, Transition>

export type OutboxTransition = keyof typeof outboxTransitions

/** The table without its literal types, for code that goes through all rows. */
export function transitionOf(name: OutboxTransition): Transition {
  return outboxTransitions[name]
}

/** new: nothing left this process · unknown: a frame may have left · sent: acknowledged · refused: turned down for good */
export type PartState = 'new' | 'unknown' | 'sent' | 'refused'

/**
 * One message on the network; an empty id is given at the next attempt. `of` is what of the row it carries: its text, an
 * attachment or a target by position. `refusal` is why it was turned down.
 */
export type OutboxPart = { id: string; of: 'text' | number; state: PartState; refusal?: string }

export type MessagePayload = {
  type: 'message'
  content: string
  attachments: readonly Attachment[]
  inReplyTo: { messageId: number | null; sourceId: string | null } | null
  agentName: string | null
  /** The titles of the choices that the content offers, in the order of their numbers. */
  choices?: readonly string[]
  /** The content is the text of a survey, without the link to it. */
  lacksSurveyLink?: true
}

/** What a direct message says. */
export type DirectContent =
  | { type: 'text'; text: string }
  | { type: 'file'; url: string; caption: string | null }
  | { type: 'location'; latitude: number; longitude: number; name: string | null; address: string | null }
  /** The phone is E.164 without the plus. */
  | { type: 'contact'; name: string; phone: string }

/**
 * A direct message: a program sends it over the API. The helpdesk gets its message only after the network has acknowledged
 * the part, so the row names no message there, and what the helpdesk shows does not concern it.
 */
export type DirectPayload = {
  type: 'direct'
  content: DirectContent
  /** The message of the chat that this one quotes. */
  quote: NetworkMessageId | null
}

/** Takes back everything that was sent for a message at the helpdesk. With `target` only that message of the network. */
export type RevokePayload = { type: 'revoke'; messageId: number; target?: MessageKey }

export type OutboxPayload = MessagePayload | DirectPayload | RevokePayload

/** The kinds of rows that carry a message to the customer. */
export const messageKinds = ['message', 'direct'] as const

/** The words of a message, as previews show them and as the spamguard compares them. Other files make another message. */
export function wordsOf(payload: MessagePayload | DirectPayload): Pick<MessagePayload, 'content' | 'attachments'> {
  if (payload.type === 'message') return payload
  const { content } = payload
  switch (content.type) {
    case 'text':
      return { content: content.text, attachments: [] }
    case 'file': {
      const file = { url: content.url, mimeType: null, fileName: content.url, size: null }
      return { content: content.caption ?? '', attachments: [file] }
    }
    case 'location':
    case 'contact':
      return { content: '', attachments: [] }
  }
}

export function hasFiles(payload: OutboxPayload): boolean {
  return payload.type !== 'revoke' && wordsOf(payload).attachments.length > 0
}

/** What the statistics of an instance count; `sending` is shown as pending. */
export type OutboxTotals = { pending: number; sent: number; expired: number; failed: number }

/** What one message may hold: characters as WhatsApp takes them, and files. */
export const messageLimits = { characters: 65_536, files: 30 } as const

export const maxWaiting = 200
export const waitingLifetimeMs = 5 * 60_000
