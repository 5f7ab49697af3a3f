// Opens the next message of a group member in the form in which the key of the member is stored, like the library's GroupCipher.
//
// The library turns each byte of each key of a record into a call of a function, for every message. Everything but the next
// message of a chain is left to the library: messages that were overtaken, repeated ones, and those that cannot be opened.

import { createDecipheriv, createSecretKey } from 'node:crypto'
import { Curve, proto } from '../library/library.ts'
import { groupKeysOf, nextSeedsOf } from './message-keys.ts'

/** As the library writes bytes to JSON. */
type StoredBytes = { type: 'Buffer'; data: number[] } | Buffer
type StoredState = {
  senderKeyId: number
  senderChainKey: { iteration: number; seed: StoredBytes }
  senderSigningKey: { public: StoredBytes }
}

/** Version 3 as the lowest and as the highest. */
const versions = 0x33
const signatureBytes = 64
const keyBytes = 32

/** The text of the message and the record as it must be stored then. Undefined if the library must open the message. */
export function openWithSenderKey(
  record: Uint8Array,
  message: Uint8Array,
): { plain: Buffer; record: Buffer } | undefined {
  if (message[0] !== versions || message.length <= signatureBytes) return undefined
  const signed = message.subarray(0, -signatureBytes)
  const { id, iteration, ciphertext } = proto.SenderKeyMessage.decode(signed.subarray(1))
  const states = JSON.parse(textOf(record)) as StoredState[]
  const [state, ...more] = states.filter(({ senderKeyId }) => senderKeyId === id)
  if (!state || more.length > 0 || !ciphertext || state.senderChainKey.iteration !== iteration) return undefined
  const [seed, signingKey] = [bytesOf(state.senderChainKey.seed), bytesOf(state.senderSigningKey.public)]
  if (seed?.length !== keyBytes || !signingKey) return undefined
  if (!Curve.verify(signingKey, signed, message.subarray(-signatureBytes))) return undefined
  const { messageSeed, chainSeed } = nextSeedsOf(seed)
  const { cipherKey, iv } = groupKeysOf(messageSeed)
  const plain = decipher(cipherKey, iv, ciphertext)
  if (!plain) return undefined
  state.senderChainKey = { iteration: iteration + 1, seed: chainSeed }
  return { plain, record: Buffer.from(JSON.stringify(states)) }
}

function decipher(key: Uint8Array, iv: Uint8Array, ciphertext: Uint8Array): Buffer | undefined {
  const cipher = createDecipheriv('aes-256-cbc', createSecretKey(key), iv)
  try {
    return Buffer.concat([cipher.update(ciphertext), cipher.final()])
  } catch {
    return undefined
  }
}

/** Undefined for bytes that are stored in another form. */
function bytesOf(stored: StoredBytes | undefined): Buffer | undefined {
  return stored && 'data' in stored && Array.isArray(stored.data) ? Buffer.from(stored.data) : undefined
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString()
}
