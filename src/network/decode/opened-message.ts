// What an opened envelope holds.

import { proto } from '../library/library.ts'

export type OpenedMessage = {
  /** Undefined when it cannot be read. */
  message: proto.IMessage | undefined
  senderKey: proto.Message.ISenderKeyDistributionMessage | undefined
  /** The number of a field nobody here knows, when there is nothing else in it. */
  strangeField: number | undefined
}

export function readEnvelope(padded: Uint8Array): OpenedMessage {
  try {
    const plain = withoutPadding(padded)
    const message = proto.Message.decode(plain)
    const inner = message.deviceSentMessage?.message ?? message
    const senderKey = inner.senderKeyDistributionMessage ?? undefined
    const isEmpty = Object.keys(message).length === 0
    return { message, senderKey, strangeField: isEmpty ? firstField(plain) : undefined }
  } catch {
    return { message: undefined, senderKey: undefined, strangeField: undefined }
  }
}

function withoutPadding(padded: Uint8Array): Uint8Array {
  const length = padded.length - (padded.at(-1) ?? 0)
  if (length < 0) throw new Error('more padding than message')
  return padded.subarray(0, length)
}

/** A message of a kind that is newer than the library: its first field says so. */
function firstField(plain: Uint8Array): number | undefined {
  let tag = 0
  for (const [index, byte] of plain.subarray(0, 4).entries()) {
    tag |= (byte & 0x7f) << (7 * index)
    if (byte < 0x80) return tag >> 3
  }
  return undefined
}
