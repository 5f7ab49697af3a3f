// Decodes messages that the phone sent again because this device could not decrypt them.

import { parseChat } from '../../core/address.ts'
import type { Person } from '../../core/address.ts'
import type { NetworkEvent } from '../../core/message.ts'
import { proto } from '../library/library.ts'
import { decodeEvent } from './event.ts'
import { addressed, addressOf, personOf } from './origin.ts'
import type { Origin } from './origin.ts'
import { unwrap } from './unwrap.ts'
import { numberOf, textOf } from './values.ts'

export function resentEvents(message: proto.IMessage, own: Person): NetworkEvent[] {
  const answer = unwrap(message).message.protocolMessage?.peerDataOperationRequestResponseMessage
  return (answer?.peerDataOperationResult ?? []).flatMap((result) => {
    const bytes = result.placeholderMessageResendResponse?.webMessageInfoBytes
    return bytes ? (resentEvent(bytes, own) ?? []) : []
  })
}

function resentEvent(bytes: Uint8Array, own: Person): NetworkEvent | undefined {
  try {
    const info = proto.WebMessageInfo.decode(bytes)
    const origin = originOfInfo(info, own)
    if (!origin || !info.message) return undefined
    const decoded = decodeEvent({ message: info.message, unknownField: undefined }, { origin, own })
    return decoded && 'event' in decoded ? decoded.event : undefined
  } catch {
    return undefined
  }
}

/** The origin as the phone describes it. */
function originOfInfo(info: proto.IWebMessageInfo, own: Person): Origin | undefined {
  const { remoteJid, id, fromMe, participant } = info.key ?? {}
  const chat = parseChat(remoteJid ?? '')
  if (!chat || !id) return undefined
  const author = chat.kind === 'group' ? (participant ?? info.participant) : remoteJid
  const sender = fromMe ? own : personOf(author)
  if (!sender) return undefined
  const at = (numberOf(info.messageTimestamp) ?? 0) * 1000
  const envelope = { id, at, chat, sender, fromMe: fromMe === true, pushName: textOf(info.pushName) }
  const isGroup = chat.kind === 'group'
  return addressed(envelope, addressOf(remoteJid ?? ''), isGroup ? addressOf(author ?? '') : null)
}
