// A message that a person or a phone of the simulated network wrote, and the options of its author.
import type { proto } from '../library.ts'
import type { GroupMembership } from '../server/message-switch.ts'
import type { Addressing, User } from '../server/user.ts'

export type ChatTarget = User | GroupMembership
export type SentMessage = { id: string; chat: ChatTarget; addressing: Addressing; message: proto.IMessage }
/** `device` is the number of the author's device that writes. The default is the first device. */
export type SendOptions = { id?: string; addressing?: Addressing; timestamp?: number; device?: number }
