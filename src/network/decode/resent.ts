// Decodes messages that the phone sent again because this device could not decrypt them.

import type { Person } from '../../core/address.ts'
import type { NetworkEvent } from '../../core/message.ts'
import { proto } from '../library/library.ts'
import { decodeEvent } from './event.ts'
import { originOfInfo } from './info-origin.ts'
import { unwrap } from './unwrap.ts'

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
