// What the helpdesk shows of a message, what we know of the message, and what we must still do so that both agree.

import type { MessageStatus } from './helpdesk/message.ts'

/**
 * What we know of a message:
 * open       accepted: it will be sent
 * sent       the network acknowledged it
 * delivered  the customer's device has it
 * read       the customer has seen it
 * unsent     it will not be sent, unless the agent presses Retry
 */
export const knownStates = ['open', 'sent', 'delivered', 'read', 'unsent'] as const
export type Known = (typeof knownStates)[number]

/**
 * What the helpdesk showed last, as far as we know. The row of a message keeps it:
 * unsure     our answer may not have arrived, a request to the helpdesk may have been carried out, or the helpdesk may not
 *            have made a failure of our refusal (yet)
 * sent, delivered, read
 * failed     failed, with a reason that the helpdesk wrote itself
 * told       failed, with our reason
 */
export const shownStates = ['unsure', 'sent', 'delivered', 'read', 'failed', 'told'] as const
export type Shown = (typeof shownStates)[number]

/**
 * What a look at the helpdesk can find besides:
 * retried    sent, although the helpdesk showed this failure before: the agent pressed Retry
 * gone       the message is deleted
 */
export const seenStates = [...shownStates, 'retried', 'gone'] as const
export type Seen = (typeof seenStates)[number]

/**
 * none       both agree
 * look       ask the helpdesk what it shows
 * set …      set the status of the message at the helpdesk; `set failed` also writes our reason
 * send       send the message again
 */
export type Duty = 'none' | 'look' | `set ${MessageStatus}` | 'send'

/** Every pair has a duty. A message never goes back from read to delivered, or from delivered to sent. */
export const duties: Readonly<Record<Known, Readonly<Record<Seen, Duty>>>> = {
  open: {
    unsure: 'look',
    sent: 'none',
    delivered: 'none',
    read: 'none',
    failed: 'set sent',
    told: 'set sent',
    retried: 'none',
    gone: 'none',
  },
  sent: {
    unsure: 'look',
    sent: 'none',
    delivered: 'none',
    read: 'none',
    failed: 'set sent',
    told: 'set sent',
    retried: 'none',
    gone: 'none',
  },
  delivered: {
    unsure: 'look',
    sent: 'set delivered',
    delivered: 'none',
    read: 'none',
    failed: 'set delivered',
    told: 'set delivered',
    retried: 'set delivered',
    gone: 'none',
  },
  read: {
    unsure: 'look',
    sent: 'set read',
    delivered: 'set read',
    read: 'none',
    failed: 'set read',
    told: 'set read',
    retried: 'set read',
    gone: 'none',
  },
  unsent: {
    unsure: 'look',
    sent: 'set failed',
    delivered: 'set failed',
    read: 'set failed',
    failed: 'set failed',
    told: 'none',
    retried: 'send',
    gone: 'none',
  },
}

export function dutyOf(known: Known, seen: Seen): Duty {
  return duties[known][seen]
}

/**
 * What a look says: the helpdesk shows `status` now (null for a deleted message) and showed `before` when we last knew. While
 * we are unsure, a change that looks like a Retry (`isAsked`) is the proof that the failure was shown.
 */
export function seenAs(status: MessageStatus | null, before: Shown, isAsked: boolean): Seen {
  if (status === null) return 'gone'
  if (status === 'failed') return before === 'told' ? 'told' : 'failed'
  const wasFailed = before === 'failed' || before === 'told' || (before === 'unsure' && isAsked)
  return status === 'sent' && wasFailed ? 'retried' : status
}

/** What the row keeps after a look. */
export function keptOf(seen: Exclude<Seen, 'gone'>): Shown {
  return seen === 'retried' ? 'sent' : seen
}

/** What the helpdesk shows after it has set a status for us. */
export function shownAfter(status: MessageStatus): Shown {
  return status === 'failed' ? 'told' : status
}
