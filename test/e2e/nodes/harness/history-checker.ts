// Judges a history. Each list names what broke one promise; all lists are empty when nothing was lost, doubled, out of order or
// unreadable, and when no session had two connections.

import { mistakesIn, repeatedIn } from '../../../harness/truth.ts'
import type { Mistakes } from '../../../harness/truth.ts'
import type { ChatHistory, Direction, History } from './history.ts'

/** The mistakes of one direction. Each entry is the chat and the id of a message. */
type DirectionFaults = {
  /** Confirmed, but not arrived. */
  lost: string[]
  doubled: string[]
  /** Arrived in another chat than its own. */
  misplaced: string[]
  outOfOrder: string[]
}

export type Violations = {
  inbound: DirectionFaults
  outbound: DirectionFaults
  /** Messages of customers that the service has not confirmed to WhatsApp. */
  unconfirmed: string[]
  /** Ids that the helpdesk has twice, in one chat or in two. */
  idsTwice: string[]
  /** Customers with more than one conversation. */
  secondConversations: string[]
  unreadable: string[]
  reusedSteps: string[]
  /** Accounts whose session opened a second connection while no process stood still. */
  secondSockets: string[]
}

const noFaults: DirectionFaults = { lost: [], doubled: [], misplaced: [], outOfOrder: [] }

export const noViolations: Violations = {
  inbound: noFaults,
  outbound: noFaults,
  unconfirmed: [],
  idsTwice: [],
  secondConversations: [],
  unreadable: [],
  reusedSteps: [],
  secondSockets: [],
}

export function violationsIn(history: History): Violations {
  const { chats, idsAtHelpdesk, unreadable, reusedSteps } = history
  return {
    inbound: faultsOf(chats, ({ inbound }) => inbound),
    outbound: faultsOf(chats, ({ outbound }) => outbound),
    unconfirmed: chats.flatMap(({ name, inbound }) =>
      inbound.written.filter(({ isConfirmed }) => !isConfirmed).map(({ id }) => `${name}: ${id}`),
    ),
    idsTwice: repeatedIn(idsAtHelpdesk),
    secondConversations: chats
      .filter(({ conversations }) => conversations.length > 1)
      .map(({ name, conversations }) => `${name}: ${conversations.join(', ')}`),
    unreadable: [...unreadable],
    reusedSteps: [...reusedSteps],
    secondSockets: secondSocketsIn(history),
  }
}

/** A message that was not confirmed may be missing or late, but it does not come twice. */
function faultsOf(chats: readonly ChatHistory[], directionOf: (chat: ChatHistory) => Direction): DirectionFaults {
  const each = chats.map((chat) => {
    const { written, arrived } = directionOf(chat)
    const messages = written.map(({ id, isConfirmed }) => ({ id, isFailed: !isConfirmed, isRetried: !isConfirmed }))
    return { name: chat.name, mistakes: mistakesIn([{ written: messages, received: arrived }]) }
  })
  const all = (kind: keyof Mistakes) =>
    each.flatMap(({ name, mistakes }) => mistakes[kind].map((id) => `${name}: ${id}`))
  return {
    lost: all('falselySent'),
    doubled: all('doubled'),
    misplaced: all('misplaced'),
    outOfOrder: all('outOfOrder'),
  }
}

/** Each stop excuses one replaced connection per account. */
function secondSocketsIn({ replaced, stops }: History): string[] {
  return [...Map.groupBy(replaced, ({ account }) => account)].flatMap(([account, times]) => {
    const excuses = [...stops]
    return times.flatMap(({ at }) => {
      const excuse = excuses.findIndex(({ from, until }) => from <= at && at <= until)
      if (excuse === -1) return [account]
      excuses.splice(excuse, 1)
      return []
    })
  })
}
