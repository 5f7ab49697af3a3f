// Reads the protobuf of a decrypted message.

import { proto } from '../library/library.ts'

export type OpenedMessage = {
  /** Undefined when the bytes cannot be read. */
  message: proto.IMessage | undefined
  senderKey: proto.Message.ISenderKeyDistributionMessage | undefined
  /** The number of an unknown field, if the message holds nothing else. */
  unknownField: number | undefined
}

export function readOpenedMessage(padded: Uint8Array): OpenedMessage {
  try {
    const plain = withoutPadding(padded)
    const message = proto.Message.decode(plain)
    const inner = message.deviceSentMessage?.message ?? message
    const senderKey = inner.senderKeyDistributionMessage ?? undefined
    const isEmpty = Object.keys(message).length === 0
    return { message, senderKey, unknownField: isEmpty ? firstField(plain) : undefined }
  } catch {
    return { message: undefined, senderKey: undefined, unknownField: undefined }
  }
}

function withoutPadding(padded: Uint8Array): Uint8Array {
  const length = padded.length - (padded.at(-1) ?? 0)
  if (length < 0) throw new Error('more padding than message')
  return padded.subarray(0, length)
}

/** The first field names the kind of a message that is newer than the library. */
function firstField(plain: Uint8Array): number | undefined {
  let tag = 0
  for (const [index, byte] of plain.subarray(0, 4).entries()) {
    tag |= (byte & 0x7f) << (7 * index)
    if (byte < 0x80) return tag >> 3
  }
  return undefined
}
