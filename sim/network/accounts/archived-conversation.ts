// Writes a chat of the archive as a history names it: its address, its name or its pair, its timer and some messages.
import { proto } from '../library.ts'
import type { ChatTimer } from '../people/chat-timers.ts'
import { User } from '../server/user.ts'
import { timeOf, type ArchivedChat } from './chat-archive.ts'
import type { ArchivedMessage } from './archived-message.ts'

/** Whether the phone has older messages of the chat than those that it sends. */
export type Remaining = 'none' | 'some' | 'some_on_demand'
export type TimerOf = (person: User) => ChatTimer | undefined

const End = proto.Conversation.EndOfHistoryTransferType
const ENDS = {
  none: End.COMPLETE_AND_NO_MORE_MESSAGE_REMAIN_ON_PRIMARY,
  some: End.COMPLETE_BUT_MORE_MESSAGES_REMAIN_ON_PRIMARY,
  some_on_demand: End.COMPLETE_ON_DEMAND_SYNC_BUT_MORE_MSG_REMAIN_ON_PRIMARY,
} as const

/** Takes and writes the messages newest first. */
export function conversation(
  chat: ArchivedChat,
  messages: readonly ArchivedMessage[],
  remaining: Remaining,
  timerOf: TimerOf,
): proto.IConversation {
  const { target, jid } = chat
  const known = target instanceof User ? { ...pairOf(chat, target), ...timer(timerOf(target)) } : groupFields(target)
  const [newest] = messages
  return {
    id: jid,
    ...known,
    conversationTimestamp: newest ? timeOf(newest) : 0,
    endOfHistoryTransfer: remaining === 'none',
    endOfHistoryTransferType: ENDS[remaining],
    messages: messages.map(({ info, order }) => ({ message: info, msgOrderId: order })),
  }
}

/** The people whose pair of addresses the list of a history names. */
export function listedPeople(chats: readonly ArchivedChat[], owner: User): User[] {
  const people = chats.flatMap(({ target, pair }) => {
    if (!(target instanceof User)) return [...target.members()].filter((one) => one !== owner && !one.hidesPhone)
    return pair === 'chat' || pair === 'list' ? [target] : []
  })
  return [...new Set(people)]
}

function pairOf({ pair }: ArchivedChat, { pnJid, lidJid }: User): Pick<proto.IConversation, 'pnJid' | 'lidJid'> {
  return pair === 'chat' ? { pnJid, lidJid } : {}
}

function timer(timer: ChatTimer | undefined): Partial<proto.IConversation> {
  if (!timer || timer.setAt === 0) return {}
  return { ephemeralExpiration: timer.seconds, ephemeralSettingTimestamp: timer.setAt }
}

function groupFields(group: Exclude<ArchivedChat['target'], User>): Partial<proto.IConversation> {
  const participant = [...group.members()].map((one) => ({ userJid: one.jid(group.addressing) }))
  return { name: 'subject' in group ? String(group.subject) : '', participant }
}
