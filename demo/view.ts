// What the page shows, as plain types: the page and the server of the demo share them.

export type MessageKind = 'text' | 'photo' | 'voice' | 'reaction' | 'quote' | 'group' | 'call' | 'edit' | 'delete'

/** The way of a message from the one who writes it to the one who reads it. */
export type Passage = {
  number: number
  direction: 'in' | 'out'
  kind: MessageKind
  startedAt: number
  /** Null while the message is on its way. */
  arrivedAt: number | null
  /** The helpdesk shows the message as failed. Its Retry sends the message again. */
  hasFailed: boolean
  /** The agent deleted the answer before it was sent, so it does not arrive. */
  isWithdrawn: boolean
}

type Counts = { sent: number; arrived: number }
export type Tally = { in: Counts; out: Counts; failed: number; doubled: number }

/** How far the visitor has come. */
export type Story = {
  isLinked: boolean
  hasReceived: boolean
  hasAnswered: boolean
  /** How many kinds of messages have arrived. */
  kinds: number
  hasBroken: boolean
}

export type BridgeView = {
  isUp: boolean
  state: string
  /** Received messages that the helpdesk does not have yet. */
  inboxPending: number
  /** Answers that WhatsApp has not taken yet. */
  outboxPending: number
  /** What WhatsApp delivered again, over all starts of the process. */
  repeated: number
}

/** One process of a service with several nodes. */
export type NodeView = { number: number; pid: number | null; isUp: boolean; accounts: string[] }

/** A node that ended, what it held, and after how long other nodes held all of it. */
export type Death = { node: number; accounts: string[]; movedMs: number | null }

export type Broken = { networkCut: boolean; helpdeskStopped: boolean; twice: boolean; killed: boolean }

export type Tick = 'sent' | 'delivered' | 'read' | 'failed'
export type FileKind = 'image' | 'audio'

/** The chat with the customer on the screen, or the group in which she is, too. */
export type Chat = 'customer' | 'group'

/** A message on one of the two screens. */
export type Bubble = {
  id: string
  chat: Chat
  isMine: boolean
  /** Null on the customer's phone for her own messages. */
  author: string | null
  text: string
  file: { kind: FileKind; url: string } | null
  /** The text of the message that this one answers. */
  quote: string | null
  tick: Tick | null
  reaction: string | null
  isDeleted: boolean
  isEdited: boolean
  isNote: boolean
  at: number
}

export type Conversation = { id: number; name: string; chat: Chat; bubbles: Bubble[] }

export type Snapshot = {
  bridge: BridgeView & { name: string; phone: string; url: string; starts: number; pid: number | null }
  /** Empty for a service of one process. */
  nodes: NodeView[]
  death: Death | null
  story: Story
  broken: Broken
  /** The newest ones. */
  passages: Passage[]
  tally: Tally & { repeated: number }
  phone: { group: string | null; isCalling: boolean; isAnswerTyped: boolean; bubbles: Bubble[] }
  helpdesk: { url: string; open: number | null; conversations: Conversation[] }
}
