// The keys of a Signal message: what a chain gives for its next message, and what the key of a message gives.
//
// HMAC (RFC 2104) is made of two hashes here. Node's own object for it takes twice the time, and each message needs seven.

import { hash } from 'node:crypto'

const blockBytes = 64
const digestBytes = 32
const [innerPad, outerPad] = [0x36, 0x5c]
const [forMessage, forChain] = [Buffer.of(1), Buffer.of(2)]
const noSalt = Buffer.alloc(32)
const info = Buffer.from('WhisperMessageKeys')
const ivBytes = 16

// What is hashed is put together here, because new buffers take as long as the hashes. No call waits in between.
const innerRoom = Buffer.alloc(1024)
const outerRoom = Buffer.alloc(blockBytes + digestBytes)

export type MessageKeys = { cipherKey: Buffer; macKey: Buffer; iv: Buffer }

/** The keys of the next message of a chain, and the next key of the chain. */
export function nextOf(chainKey: Uint8Array): { keys: MessageKeys; chainKey: Buffer } {
  return { keys: keysOf(macOf(chainKey, forMessage)), chainKey: macOf(chainKey, forChain) }
}

/** HKDF (RFC 5869) without a salt. */
function keysOf(messageKey: Uint8Array): MessageKeys {
  const key = macOf(noSalt, messageKey)
  const cipherKey = macOf(key, info, Buffer.of(1))
  const macKey = macOf(key, cipherKey, info, Buffer.of(2))
  const iv = macOf(key, macKey, info, Buffer.of(3)).subarray(0, ivBytes)
  return { cipherKey, macKey, iv }
}

/** HMAC with SHA-256. The key has at most 64 bytes. */
export function macOf(key: Uint8Array, ...parts: readonly Uint8Array[]): Buffer {
  if (key.length > blockBytes) throw new RangeError(`a key has at most ${blockBytes} bytes`)
  let length = blockBytes
  for (const part of parts) length += part.length
  const inner = length <= innerRoom.length ? innerRoom : Buffer.allocUnsafe(length)
  inner.fill(innerPad, 0, blockBytes)
  outerRoom.fill(outerPad, 0, blockBytes)
  for (let at = 0; at < key.length; at++) {
    const byte = key[at] ?? 0
    inner[at] = byte ^ innerPad
    outerRoom[at] = byte ^ outerPad
  }
  let end = blockBytes
  for (const part of parts) {
    inner.set(part, end)
    end += part.length
  }
  outerRoom.set(hash('sha256', inner.subarray(0, end), 'buffer'), blockBytes)
  return hash('sha256', outerRoom, 'buffer')
}
