// What happened on a stage, as facts: what was written and confirmed, what arrived, and what the simulated network saw.

/** A message as its writer knows it. */
export type Written = {
  id: string
  /** The other side has answered for it: the service to the helpdesk, or the service to WhatsApp. */
  isConfirmed: boolean
}

/** One direction of one chat. Both lists are in the order in which the messages were written and arrived. */
export type Direction = { written: readonly Written[]; arrived: readonly string[] }

export type ChatHistory = {
  name: string
  /** From the customer to the helpdesk. */
  inbound: Direction
  /** From the agent to the customer. */
  outbound: Direction
  /** The conversations of the customer at the helpdesk. */
  conversations: readonly number[]
}

export type Stop = { from: number; until: number }

/** The moments are milliseconds on one clock that never goes back. */
export type History = {
  chats: readonly ChatHistory[]
  /** The ids of all messages of customers at the helpdesk. */
  idsAtHelpdesk: readonly string[]
  /** Messages that a phone could not open, and messages that the service asked for again. */
  unreadable: readonly string[]
  /** Steps of a ratchet that encrypted two different texts. */
  reusedSteps: readonly string[]
  /** WhatsApp closed a connection because the same session opened another one. */
  replaced: readonly { account: string; at: number }[]
  /** Times in which a process stood still and could not close its connections, until all was well again. */
  stops: readonly Stop[]
}
