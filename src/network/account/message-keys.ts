// The keys of a Signal message: what a chain gives for its next message, and what the key of a message gives.
//
// HMAC (RFC 2104) is made of two hashes here. Node's own object for it takes twice the time, and each message needs seven. The
// texts to hash are put together in memory that is used again for the next one.

import { hash } from 'node:crypto'

const blockBytes = 64
const digestBytes = 32
const [innerPad, outerPad] = [0x36, 0x5c]
const noSalt = Buffer.alloc(32)
const info = Buffer.from('WhisperMessageKeys')
const groupInfo = Buffer.from('WhisperGroup')
const ivBytes = 16
const [first, second, third] = [Buffer.of(1), Buffer.of(2), Buffer.of(3)]
/** An ordinary message fits. Nothing else runs while a MAC is computed, so one place is enough for all. */
const innerText = Buffer.alloc(blockBytes + 2_048)
const outerText = Buffer.alloc(blockBytes + digestBytes)

export type MessageKeys = { cipherKey: Buffer; macKey: Buffer; iv: Buffer }

/** The keys of the next message of a chain, and the next key of the chain. */
export function nextOf(chainKey: Uint8Array): { keys: MessageKeys; chainKey: Buffer } {
  const { messageSeed, chainSeed } = nextSeedsOf(chainKey)
  return { keys: keysOf(messageSeed), chainKey: chainSeed }
}

/** What a chain gives for its next message, and for the message after it. */
export function nextSeedsOf(chainKey: Uint8Array): { messageSeed: Buffer; chainSeed: Buffer } {
  return { messageSeed: macOf(chainKey, first), chainSeed: macOf(chainKey, second) }
}

/** HKDF (RFC 5869) without a salt. */
function keysOf(messageSeed: Uint8Array): MessageKeys {
  const key = macOf(noSalt, messageSeed)
  const cipherKey = macOf(key, info, first)
  const macKey = macOf(key, cipherKey, info, second)
  const iv = macOf(key, macKey, info, third).subarray(0, ivBytes)
  return { cipherKey, macKey, iv }
}

/** The keys of a message to a group, whose signature takes the place of a MAC. */
export function groupKeysOf(messageSeed: Uint8Array): Omit<MessageKeys, 'macKey'> {
  const key = macOf(noSalt, messageSeed)
  const start = macOf(key, groupInfo, first)
  const end = macOf(key, start, groupInfo, second)
  const cipherKey = Buffer.concat([start.subarray(ivBytes), end.subarray(0, ivBytes)])
  return { cipherKey, iv: start.subarray(0, ivBytes) }
}

/** HMAC with SHA-256. The key has at most 64 bytes. */
export function macOf(key: Uint8Array, ...parts: readonly Uint8Array[]): Buffer {
  if (key.length > blockBytes) throw new RangeError(`a key has at most ${blockBytes} bytes`)
  let length = blockBytes
  for (const part of parts) length += part.length
  const inner = length <= innerText.length ? innerText : Buffer.allocUnsafe(length)
  inner.fill(innerPad, 0, blockBytes)
  outerText.fill(outerPad, 0, blockBytes)
  for (let at = 0; at < key.length; at++) {
    const byte = key[at] ?? 0
    inner[at] = byte ^ innerPad
    outerText[at] = byte ^ outerPad
  }
  let end = blockBytes
  for (const part of parts) {
    inner.set(part, end)
    end += part.length
  }
  outerText.set(hash('sha256', inner.subarray(0, end), 'buffer'), blockBytes)
  return hash('sha256', outerText, 'buffer')
}
