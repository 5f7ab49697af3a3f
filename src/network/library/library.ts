// Everything that the service uses of the client library and of its Signal library, with types where they declare none.

import { createRequire } from 'node:module'
import type { LIDMapping, SignalAuthState, SignalRepositoryWithLIDStore, SocketConfig } from 'baileys'
import { DEFAULT_CONNECTION_CONFIG, jidDecode as decodeJid, jidNormalizedUser as normalizeJid } from 'baileys'
import { GroupCipher } from 'baileys/lib/Signal/Group/group_cipher.js'
import { SenderKeyMessage as LibrarySenderKeyMessage } from 'baileys/lib/Signal/Group/sender-key-message.js'
import { SenderKeyRecord as LibrarySenderKeyRecord } from 'baileys/lib/Signal/Group/sender-key-record.js'
import { SenderKeyState as LibrarySenderKeyState } from 'baileys/lib/Signal/Group/sender-key-state.js'
import * as bridge from 'whatsapp-rust-bridge'
import { remembered } from '../../lib/text/remembered.ts'

export {
  buildMergedTcTokenIndexWrite,
  isTcTokenExpired,
  resolveIssuanceJid,
  shouldSendNewTcToken,
  storeTcTokensFromIqResult,
} from 'baileys/lib/Utils/tc-token-utils.js'

export {
  BufferJSON,
  Curve,
  encodeBinaryNode,
  encodeSignedDeviceIdentity,
  extractE2ESessionFromRetryReceipt,
  generateSignalPubKey,
  initAuthCreds,
  isJidGroup,
  jidEncode,
  makeWASocket,
  proto,
  WA_CERT_DETAILS,
} from 'baileys'
export type {
  AuthenticationCreds,
  BaileysEventMap,
  BinaryNode,
  CacheStore,
  Chat,
  ChatModification,
  ConnectionState,
  Contact,
  GroupMetadata,
  SignalAuthState,
  SignalDataSet,
  SignalDataTypeMap,
  SignalKeyStore,
  SignalKeyStoreWithTransaction,
  SignalRepositoryWithLIDStore,
  UserFacingSocketConfig,
  WASocket,
  WAVersion,
} from 'baileys'

/** How many addresses are kept decoded. A message names a dozen, most of them several times. */
const jidsRemembered = 4000
const decodedOf = remembered(jidsRemembered, decodeJid)
const normalizedOf = remembered(jidsRemembered, normalizeJid)

/** Callers do not change the result. */
export function jidDecode(jid: string | undefined): ReturnType<typeof decodeJid> {
  return jid === undefined ? undefined : decodedOf(jid)
}

export function jidNormalizedUser(jid: string | undefined): string {
  return jid === undefined ? '' : normalizedOf(jid)
}

export const defaultVersion = DEFAULT_CONNECTION_CONFIG.version
export const defaultUrl = DEFAULT_CONNECTION_CONFIG.waWebSocketUrl

export type LibraryLogger = SocketConfig['logger']
export type LidLookup = (pns: string[]) => Promise<LIDMapping[] | undefined>

/** The library's own Signal repository. It keeps its records in the key store that it is given. */
export const stockRepository = DEFAULT_CONNECTION_CONFIG.makeSignalRepository as (
  auth: SignalAuthState,
  logger: LibraryLogger,
  lookup: LidLookup,
) => SignalRepositoryWithLIDStore

type Session = { serialize(): object; constructor: { deserialize(stored: object): object } } & Record<string, unknown>
type CurveModule = {
  generateKeyPair: () => { pubKey: Uint8Array; privKey: Uint8Array }
  calculateAgreement: (publicKey: Uint8Array, privateKey: Uint8Array) => Uint8Array
  calculateSignature: (privateKey: Uint8Array, message: Uint8Array) => Uint8Array
  verifySignature: (key: Uint8Array, message: Uint8Array, signature: Uint8Array, isInit?: boolean) => boolean
}
type SessionCipherMethods = {
  queueJob: <Result>(job: () => Promise<Result>) => Promise<Result>
  doDecryptWhisperMessage: (this: unknown, message: Uint8Array, session: Session | undefined) => Promise<Buffer>
}

const require = createRequire(import.meta.url)
export const signalCurve = require('libsignal/src/curve.js') as CurveModule
export const fastCurve: CurveModule = bridge

type Encoding = { encode: (fields: Record<string, unknown>) => { finish(): Uint8Array } }
type Decoding<Fields> = { decode: (bytes: Uint8Array) => Fields }
type WhisperMessage = { ephemeralKey: Uint8Array; counter: number; ciphertext: Uint8Array }
type PreKeyWhisperMessage = { identityKey: Uint8Array; baseKey: Uint8Array; message: Uint8Array }
export const signalMessages = require('libsignal/src/protobufs.js') as {
  WhisperMessage: Encoding & Decoding<WhisperMessage>
  PreKeyWhisperMessage: Encoding & Decoding<PreKeyWhisperMessage>
}

const SessionCipher = require('libsignal/src/session_cipher.js') as { prototype: SessionCipherMethods }
export const sessionCipherMethods = SessionCipher.prototype

type SenderKeyState = InstanceType<typeof LibrarySenderKeyState>
type SenderKeyRecord = InstanceType<typeof LibrarySenderKeyRecord>
type MessageKey = { getIteration(): number; getIv(): Uint8Array; getCipherKey(): Uint8Array }
type GroupCipherMethods = {
  senderKeyName: string
  senderKeyStore: {
    loadSenderKey(name: string): Promise<SenderKeyRecord | undefined>
    storeSenderKey(name: string, record: SenderKeyRecord): Promise<void>
  }
  getSenderKey(state: SenderKeyState, iteration: number): MessageKey
  getCipherText(iv: Uint8Array, key: Uint8Array, plain: Uint8Array): Promise<Buffer>
  encrypt: (this: GroupCipherMethods, padded: Uint8Array) => Promise<Uint8Array>
}
type SenderKeyMessageMethods = {
  serialize(): Uint8Array
  getSignature: (key: Uint8Array, message: Uint8Array) => Uint8Array
  verifySignature: (this: SenderKeyMessageMethods, key: Uint8Array) => void
}
type SenderKeyStateMethods = {
  removeSenderMessageKey: (
    this: SenderKeyState,
    iteration: number,
  ) => ReturnType<SenderKeyState['removeSenderMessageKey']>
}
type NewState = Parameters<SenderKeyRecord['addSenderKeyState']>
type SenderKeyRecordMethods = { addSenderKeyState: (this: SenderKeyRecord, ...state: NewState) => void }

export const SenderKeyMessage = LibrarySenderKeyMessage
export const groupCipherMethods = GroupCipher.prototype as unknown as GroupCipherMethods
export const senderKeyMessageMethods = SenderKeyMessage.prototype as unknown as SenderKeyMessageMethods
export const senderKeyStateMethods: SenderKeyStateMethods = LibrarySenderKeyState.prototype
export const senderKeyRecordMethods: SenderKeyRecordMethods = LibrarySenderKeyRecord.prototype
