// Opens the next message of a Signal session in the form in which the session is stored, like libsignal's SessionCipher.
//
// The next message of a chain advances only that chain. Libsignal reads all keys of all chains for that and writes all of them
// again, and it passes a dozen promises on the way. Everything else is left to libsignal: a new session, a step of the ratchet,
// and messages that were overtaken.

import { createDecipheriv, createSecretKey, timingSafeEqual } from 'node:crypto'
import { signalMessages } from '../library/library.ts'
import { macOf, nextOf } from './message-keys.ts'

type Chain = { chainKey: { counter: number; key?: string }; chainType: number }
type StoredSession = {
  indexInfo: { baseKeyType: number; remoteIdentityKey: string; used: number }
  pendingPreKey?: unknown
  _chains: Record<string, Chain | undefined>
}
/** All sessions with one device by their base key, as libsignal stores them. */
export type StoredSessions = { version?: string; _sessions?: Record<string, StoredSession> }
type SealedMessage = { type: 'msg' | 'pkmsg'; ciphertext: Uint8Array }
type Context = {
  /** The stored identity of the other side. */
  theirIdentity: Uint8Array | undefined
  /** The identity of the account, with the type of the key in front. */
  ownIdentity: Uint8Array
  now: () => number
}
/** `body` is the message without its version and its MAC. */
type ReadMessage = { message: Uint8Array; body: Uint8Array; chainName: string; counter: number; ciphertext: Uint8Array }
type Found = { session: StoredSession; read: ReadMessage }

const recordVersion = 'v1'
/** Libsignal removes the oldest sessions of a record that has more. */
const sessionsKept = 40
const receivingChain = 2
const ownBaseKey = 1
/** Version 3 as the lowest and as the highest. */
const versions = 0x33
const versionByte = Buffer.of(versions)
const macBytes = 8

/**
 * Changes the sessions if it opens the message: they must be stored then. Undefined if libsignal must open the message; then the
 * sessions are as before.
 */
export function openWithSession(
  { version, _sessions = {} }: StoredSessions,
  sealed: SealedMessage,
  { theirIdentity, ownIdentity, now }: Context,
): Buffer | undefined {
  if (version !== recordVersion || sealed.ciphertext[0] !== versions) return undefined
  if (Object.keys(_sessions).length > sessionsKept) return undefined
  const found = sealed.type === 'msg' ? sessionOf(_sessions, sealed) : newSessionOf(_sessions, sealed, theirIdentity)
  const plain = found && openNext(found, ownIdentity)
  if (plain && sealed.type === 'msg') found.session.indexInfo.used = now()
  return plain
}

/** The session that has the chain of the message. */
function sessionOf(sessions: Record<string, StoredSession>, { ciphertext }: SealedMessage): Found | undefined {
  const read = readMessage(ciphertext)
  const [session, ...more] = Object.values(sessions).filter(({ _chains }) => _chains[read.chainName])
  return session && more.length === 0 ? { session, read } : undefined
}

/** Until we have answered, each message tells how to open the session, which exists since the first of them. */
function newSessionOf(
  sessions: Record<string, StoredSession>,
  { ciphertext }: SealedMessage,
  theirIdentity: Uint8Array | undefined,
): Found | undefined {
  const { identityKey, baseKey, message } = signalMessages.PreKeyWhisperMessage.decode(ciphertext.subarray(1))
  const session = sessions[base64(baseKey)]
  if (!session || session.indexInfo.baseKeyType === ownBaseKey || message[0] !== versions) return undefined
  const isSame = theirIdentity && Buffer.compare(identityKey, theirIdentity) === 0
  return isSame ? { session, read: readMessage(message) } : undefined
}

function openNext({ session, read }: Found, ownIdentity: Uint8Array): Buffer | undefined {
  const { message, body, counter, ciphertext } = read
  const chain = session._chains[read.chainName]
  if (chain?.chainType !== receivingChain || chain.chainKey.key === undefined) return undefined
  if (counter !== chain.chainKey.counter + 1) return undefined
  const { keys, chainKey } = nextOf(Buffer.from(chain.chainKey.key, 'base64'))
  const theirs = Buffer.from(session.indexInfo.remoteIdentityKey, 'base64')
  const mac = macOf(keys.macKey, theirs, ownIdentity, versionByte, body).subarray(0, macBytes)
  if (!timingSafeEqual(mac, message.subarray(-macBytes))) return undefined
  const decipher = createDecipheriv('aes-256-cbc', createSecretKey(keys.cipherKey), keys.iv)
  const plain = Buffer.concat([decipher.update(ciphertext), decipher.final()])
  chain.chainKey = { counter, key: chainKey.toString('base64') }
  delete session.pendingPreKey
  return plain
}

function readMessage(message: Uint8Array): ReadMessage {
  const body = message.subarray(1, -macBytes)
  const { ephemeralKey, counter, ciphertext } = signalMessages.WhisperMessage.decode(body)
  return { message, body, chainName: base64(ephemeralKey), counter, ciphertext }
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')
}
