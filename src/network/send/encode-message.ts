// Encodes messages for sealing. The library's own function encodes and pads in one go, and draws its random byte alone.

import { drawRandomBytes } from '../../lib/random/random-bytes.ts'
import { proto } from '../library/library.ts'

const mostPadding = 16

export function encodeMessage(message: proto.IMessage): Uint8Array {
  return proto.Message.encode(message).finish()
}

/** One to sixteen bytes hide the length of the message. Each of them says how many there are. */
export function padMessage(encoded: Uint8Array): Buffer {
  const length = ((drawRandomBytes(1)[0] ?? 0) % mostPadding) + 1
  return Buffer.concat([encoded, Buffer.alloc(length, length)])
}
