// A message that a person or a phone of the simulated network wrote, and the options of its author.
import type { proto } from '../library.ts'
import type { GroupMembership } from '../server/message-switch.ts'
import type { Addressing, User } from '../server/user.ts'

export type ChatTarget = User | GroupMembership
export type SentMessage = { id: string; chat: ChatTarget; addressing: Addressing; message: proto.IMessage }
export type SendOptions = {
  id?: string
  addressing?: Addressing
  timestamp?: number
  /** The number of the author's device that writes. The default is the first device. */
  device?: number
  /** The stanza that carries the message. Newer servers carry status updates in a stanza of their own. */
  carrier?: 'message' | 'status'
}
