// Reads the reactions to a message of a history. The phone keeps them with the message.

import type { Person } from '../../core/address.ts'
import type { NetworkEvent } from '../../core/message.ts'
import { originOfInfo } from '../decode/info-origin.ts'
import type { Origin } from '../decode/origin.ts'
import { numberOf } from '../decode/values.ts'
import type { proto } from '../library/library.ts'

/** More than any group has members. */
const mostReactions = 2_000

export function pastReactions({ reactions }: proto.IWebMessageInfo, origin: Origin, own: Person): NetworkEvent[] {
  return (reactions ?? []).slice(0, mostReactions).flatMap((reaction) => pastReaction(reaction, origin, own) ?? [])
}

function pastReaction(reaction: proto.IReaction, origin: Origin, own: Person): NetworkEvent | undefined {
  const { key, text, senderTimestampMs } = reaction
  const { envelope, chatJid, participant } = origin
  const by = originOfInfo({ key: { ...key, remoteJid: chatJid } }, own)
  if (!by || !text) return undefined
  const target = { chat: chatJid, id: envelope.id, fromMe: envelope.fromMe, participant }
  // A reaction comes after its message, also when the clocks of the two people differ.
  const at = Math.max(numberOf(senderTimestampMs) ?? 0, envelope.at + 1)
  return { ...by.envelope, at, kind: 'reaction', target, emoji: text }
}
