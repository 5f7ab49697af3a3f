// What waits to be sent: a row per accepted message, its parts, and the words for what becomes of them.

import type { Attachment } from './downstream.ts'

/**
 * pending  accepted and not on its way: waiting for a connection, for its turn, or for the next attempt
 * sending  a frame of it may be leaving right now
 * sent     every part was acknowledged by the network
 * failed, expired   will not be sent unless the agent asks again
 * refused  never accepted (filtered, no room); kept only so that the agent can ask again
 */
export type OutboxStatus = 'pending' | 'sending' | 'sent' | 'failed' | 'expired' | 'refused'

/** Whether the helpdesk has been told of a failure; asked: the agent may want it sent again, to be seen at the helpdesk. */
export type OutboxReport = 'none' | 'due' | 'done' | 'given_up' | 'asked'

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

export const maxWaiting = 200
export const waitingLifetimeMs = 5 * 60_000
