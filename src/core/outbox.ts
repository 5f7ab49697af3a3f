// The words for outgoing messages: a row per accepted message, its parts, its states and the transitions between them.

import type { Attachment } from './downstream.ts'

/**
 * pending  accepted, and no frame is leaving: the row waits for a connection, for its turn or for the next attempt
 * sending  a frame may be leaving right now
 * sent     the network acknowledged every part
 * failed, expired   will not be sent unless the agent asks again
 * refused  was never accepted (filtered, no room, too late), and is kept only so that the agent can ask again
 */
export const outboxStatuses = ['pending', 'sending', 'sent', 'failed', 'expired', 'refused'] as const
export type OutboxStatus = (typeof outboxStatuses)[number]

/**
 * Whether the helpdesk knows that a row was not sent, and whether the agent asked for it again:
 * none     nothing to tell
 * due      the helpdesk is to be told at `report_at`
 * done     the helpdesk was told
 * given_up the helpdesk could not be told, or need not be
 * asked    the agent may want the message sent again: we will ask the helpdesk at `report_at`
 */
export const outboxReports = ['none', 'due', 'done', 'given_up', 'asked'] as const
export type OutboxReport = (typeof outboxReports)[number]

type Transition = {
  /** The statuses in which a row can make the transition. Without any, the transition creates the row. */
  from: readonly OutboxStatus[]
  to: OutboxStatus | 'same' | 'deleted'
  /** `from`: the reports in which a row can make the transition (any, when left out). `to`: the possible reports afterwards. */
  report?: { from?: readonly OutboxReport[]; to: readonly OutboxReport[] }
  /** The classes that decide on the transition, or the background worker. */
  who: string
  meaning: string
}

const live: readonly OutboxStatus[] = ['pending', 'sending']
const unsent: readonly OutboxStatus[] = ['failed', 'expired', 'refused']
const told = { to: ['none', 'due'] } as const

/**
 * Every way in which a row can change its state. The stores build the conditions of their statements from this table. Only
 * `prune` does not: its statement asks for `settled_at`, which exactly the rows in its states have.
 */
export const outboxTransitions = {
  accept: {
    from: [],
    to: 'pending',
    who: 'MessageStorage, MessageDeletions',
    meaning: 'The message is stored and will be sent.',
  },
  acceptClaimed: {
    from: [],
    to: 'sending',
    who: 'MessageStorage',
    meaning: 'The message is stored, and its frame leaves right after this commit (immediate send).',
  },
  keepRefused: {
    from: [],
    to: 'refused',
    report: told,
    who: 'SendGuards, MessageStorage',
    meaning: 'The message is filtered, its callback is too old, or too many messages wait.',
  },
  keepAsked: {
    from: [],
    to: 'refused',
    report: { to: ['asked'] },
    who: 'RetryRequests',
    meaning: 'The agent asked again for a message whose callback never arrived.',
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
  fail: { from: live, to: 'failed', report: told, who: 'RowOutcomes', meaning: 'The message will not be sent.' },
  cancel: { from: ['pending'], to: 'failed', who: 'MessageDeletions', meaning: 'The agent deleted the message.' },
  expire: {
    from: ['pending'],
    to: 'expired',
    report: told,
    who: 'RowOutcomes',
    meaning: 'The row waited five minutes for a connection.',
  },
  withdraw: {
    from: live,
    to: 'refused',
    report: { to: ['due'] },
    who: 'UndecidedRows',
    meaning: 'The row was stored too late: the helpdesk was already told that the message failed.',
  },
  saveReport: {
    from: unsent,
    to: 'same',
    report: { from: ['due'], to: ['due', 'done', 'given_up'] },
    who: 'FailureReporter',
    meaning: 'The helpdesk was told, or will be told later, or cannot be told.',
  },
  reopenReport: {
    from: ['refused'],
    to: 'same',
    report: { from: ['done'], to: ['due'] },
    who: 'MessageStorage',
    meaning: 'A new row accepts the same message: the helpdesk must no longer show it as failed.',
  },
  ask: {
    from: unsent,
    to: 'same',
    report: { from: ['done'], to: ['asked'] },
    who: 'RetryRequests',
    meaning: 'The agent may have asked for the message again.',
  },
  askLater: {
    from: unsent,
    to: 'same',
    report: { from: ['asked'], to: ['asked'] },
    who: 'Retries',
    meaning: 'The helpdesk did not answer whether the agent asked.',
  },
  retry: {
    from: unsent,
    to: 'pending',
    report: { from: ['asked'], to: ['none'] },
    who: 'Retries',
    meaning: 'The agent asked: the message is sent again.',
  },
  leaveAlone: {
    from: unsent,
    to: 'same',
    report: { from: ['asked'], to: ['done'] },
    who: 'Retries',
    meaning: 'The agent did not ask.',
  },
  discard: {
    from: unsent,
    to: 'deleted',
    report: { from: ['asked'], to: [] },
    who: 'Retries',
    meaning: 'The agent did not ask for a message whose callback never arrived.',
  },
  refuseRetry: {
    from: unsent,
    to: 'same',
    report: { from: ['asked'], to: ['due'] },
    who: 'Retries',
    meaning: 'The message cannot be sent again: the helpdesk is told.',
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
}

/** Takes back everything that was sent for a message at the helpdesk. */
type RevokePayload = { type: 'revoke'; messageId: number }

export type OutboxPayload = MessagePayload | RevokePayload

/** What the statistics of an instance count; `sending` is shown as pending. */
export type OutboxTotals = { pending: number; sent: number; expired: number; failed: number }

/** What one message may hold: characters as WhatsApp takes them, and files. */
export const messageLimits = { characters: 65_536, files: 30 } as const

export const maxWaiting = 200
export const waitingLifetimeMs = 5 * 60_000
