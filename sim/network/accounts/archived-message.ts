// A message in the archive of a phone, and how later edits, reactions and deletions change it.
//
// A phone keeps them with the message that they are about: an edited message keeps its id and carries the edit, reactions
// stand in a list, and a deleted message is a stub without content.
import { proto } from '../library.ts'
import { edit, type MessageRef } from '../people/contents.ts'
import { User } from '../server/user.ts'
import type { ChatTarget } from '../people/sent-message.ts'

export type PastReaction = { emoji: string; from?: User; at?: number }
export type PastMessage = {
  text?: string
  message?: proto.IMessage
  /** The author. The default is the owner of the phone. */
  from?: User
  /** Unix seconds. */
  at: number
  id?: string
  /** The id of an earlier message of the chat. */
  quote?: string
  /** The text after an edit. */
  edited?: string
  /** The author deleted the message for everyone. */
  revoked?: boolean
  reactions?: PastReaction[]
}
export type ArchivedMessage = {
  info: proto.IWebMessageInfo
  /** Counts all messages of a phone in the order in which it got them. */
  order: number
  /** Whether the message stays. A message of the present goes when many newer ones have come. */
  isRemembered: boolean
}
/** A message that changes another one of the same chat. */
export type Change = { id: string; apply: (info: proto.IWebMessageInfo) => proto.IWebMessageInfo }

const { Type } = proto.Message.ProtocolMessage
const { StubType } = proto.WebMessageInfo

export function keyOf(jid: string, target: ChatTarget, author: User, owner: User, id: string): proto.IMessageKey {
  const participant = target instanceof User ? {} : { participant: author.jid(target.addressing) }
  return { remoteJid: jid, fromMe: author === owner, id, ...participant }
}

/** Undefined for a message that stands for itself. `key` and `at` (unix seconds) are those of the change. */
export function changeIn(message: proto.IMessage, key: proto.IMessageKey, at: number): Change | undefined {
  const reaction = message.reactionMessage
  if (reaction?.key?.id) {
    const text = reaction.text ?? ''
    const senderTimestampMs = reaction.senderTimestampMs ?? at * 1000
    return { id: reaction.key.id, apply: (info) => withReaction(info, { key, text, senderTimestampMs, unread: false }) }
  }
  const change = message.editedMessage?.message?.protocolMessage ?? message.protocolMessage
  if (!change?.key?.id) return undefined
  const { editedMessage } = change
  if (change.type === Type.REVOKE) return { id: change.key.id, apply: revoked }
  if (change.type !== Type.MESSAGE_EDIT || !editedMessage) return undefined
  return { id: change.key.id, apply: (info) => edited(info, editedMessage, at) }
}

export function edited(info: proto.IWebMessageInfo, content: proto.IMessage, at: number): proto.IWebMessageInfo {
  const { id, remoteJid, fromMe, participant } = info.key ?? {}
  const ref: MessageRef = {
    id: id ?? '',
    remoteJid: remoteJid ?? '',
    fromMe: fromMe ?? false,
    participant: participant ?? undefined,
  }
  return { ...info, message: edit(ref, content, at * 1000) }
}

export function revoked(info: proto.IWebMessageInfo): proto.IWebMessageInfo {
  return { ...info, message: null, reactions: [], messageStubType: StubType.REVOKE }
}

/** A person has at most one reaction to a message. An empty text removes it. */
export function withReaction(info: proto.IWebMessageInfo, reaction: proto.IReaction): proto.IWebMessageInfo {
  const others = (info.reactions ?? []).filter((one) => authorOf(one) !== authorOf(reaction))
  return { ...info, reactions: reaction.text ? [...others, reaction] : others }
}

function authorOf({ key }: proto.IReaction): string {
  return key?.participant ?? (key?.fromMe ? 'owner' : 'other')
}
