// Seals a message with a Signal session in the form in which it is stored, like `encrypt` of libsignal's SessionCipher.
//
// A seal advances one chain of the session. Libsignal reads all keys of all chains for that and writes all of them again, and
// it passes a dozen promises on the way.

import { createCipheriv, createSecretKey } from 'node:crypto'
import { signalMessages } from '../library/library.ts'
import { macOf, nextOf } from './message-keys.ts'

type Chain = { chainKey: { counter: number; key?: string }; chainType: number }
type PendingPreKey = { signedKeyId: number; baseKey: string; preKeyId?: number }
type StoredSession = {
  currentRatchet: { ephemeralKeyPair: { pubKey: string }; previousCounter: number }
  indexInfo: { closed: number; remoteIdentityKey: string }
  pendingPreKey?: PendingPreKey
  _chains: Record<string, Chain | undefined>
}
/** All sessions with one device, as libsignal stores them. */
export type SessionRecord = { version?: string; _sessions?: Record<string, StoredSession> }
/** `publicKey` is the identity of the account, with the type of the key in front. */
export type OwnIdentity = { publicKey: Uint8Array; registrationId: number }
type Sealed = { type: 'msg' | 'pkmsg'; ciphertext: Buffer }

const recordVersion = 'v1'
/** Libsignal removes the oldest sessions of a record that has more. */
const sessionsKept = 40
const sendingChain = 1
const open = -1
/** Version 3 as the lowest and as the highest. */
const versions = Buffer.of(0x33)
const macBytes = 8
/** With the type of the key in front. Libsignal fills up a shorter one. */
const identityBytes = 33

/**
 * Changes the record: it must be stored before the message leaves. Undefined for a record that libsignal must handle, which is
 * one without an open session, of another version, with too many sessions, or with a short identity; then the record is as before.
 */
export function sealWithSession(record: SessionRecord, data: Uint8Array, own: OwnIdentity): Sealed | undefined {
  const session = openSessionOf(record)
  const ephemeral = session?.currentRatchet.ephemeralKeyPair.pubKey ?? ''
  const chain = session?._chains[ephemeral]
  const theirs = Buffer.from(session?.indexInfo.remoteIdentityKey ?? '', 'base64')
  if (
    !session ||
    theirs.length !== identityBytes ||
    chain?.chainType !== sendingChain ||
    chain.chainKey.key === undefined
  )
    return undefined
  const { keys, chainKey } = nextOf(Buffer.from(chain.chainKey.key, 'base64'))
  const counter = chain.chainKey.counter + 1
  chain.chainKey = { counter, key: chainKey.toString('base64') }
  const cipher = createCipheriv('aes-256-cbc', createSecretKey(keys.cipherKey), keys.iv)
  const body = signalMessages.WhisperMessage.encode({
    ephemeralKey: Buffer.from(ephemeral, 'base64'),
    counter,
    previousCounter: session.currentRatchet.previousCounter,
    ciphertext: Buffer.concat([cipher.update(data), cipher.final()]),
  }).finish()
  const mac = macOf(keys.macKey, own.publicKey, theirs, versions, body).subarray(0, macBytes)
  const message = Buffer.concat([versions, body, mac])
  const { pendingPreKey } = session
  if (!pendingPreKey) return { type: 'msg', ciphertext: message }
  return { type: 'pkmsg', ciphertext: withPreKey(message, pendingPreKey, own) }
}

function openSessionOf({ version, _sessions = {} }: SessionRecord): StoredSession | undefined {
  const sessions = Object.values(_sessions)
  if (version !== recordVersion || sessions.length > sessionsKept) return undefined
  return sessions.find(({ indexInfo }) => indexInfo.closed === open)
}

/** Until the other side has answered, each message tells how to open the session. */
function withPreKey(message: Uint8Array, pending: PendingPreKey, own: OwnIdentity): Buffer {
  const { baseKey, signedKeyId, preKeyId } = pending
  const encoded = signalMessages.PreKeyWhisperMessage.encode({
    identityKey: own.publicKey,
    registrationId: own.registrationId,
    baseKey: Buffer.from(baseKey, 'base64'),
    signedPreKeyId: signedKeyId,
    message,
    ...(preKeyId && { preKeyId }),
  }).finish()
  return Buffer.concat([versions, encoded])
}
