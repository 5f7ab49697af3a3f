// What an opened envelope holds.

import { proto } from '../library.ts'

export type OpenedMessage = {
  /** Undefined when it cannot be read. */
  message: proto.IMessage | undefined
  senderKey: proto.Message.ISenderKeyDistributionMessage | undefined
}

export function readEnvelope(padded: Uint8Array): OpenedMessage {
  try {
    const message = proto.Message.decode(withoutPadding(padded))
    const inner = message.deviceSentMessage?.message ?? message
    return { message, senderKey: inner.senderKeyDistributionMessage ?? undefined }
  } catch {
    return { message: undefined, senderKey: undefined }
  }
}

function withoutPadding(padded: Uint8Array): Uint8Array {
  const length = padded.length - (padded.at(-1) ?? 0)
  if (length < 0) throw new Error('more padding than message')
  return padded.subarray(0, length)
}
