// Signs the identity of a companion as its phone does, and checks the companion's counter-signature.
import { createHmac } from 'node:crypto'
import { proto } from '../library.ts'
import { keyIndexOf } from '../server/user.ts'
import { verifySignature, type KeyPair } from '../signal/curve.ts'

const ACCOUNT_PREFIX = Buffer.from([6, 0])
const DEVICE_PREFIX = Buffer.from([6, 1])
const LIST_PREFIX = Buffer.from([6, 2])
/** The time in every list of devices, in seconds. */
export const LISTED_AT = 1_700_000_000

export type SignedIdentity = { details: Buffer; accountSignatureKey: Buffer; accountSignature: Buffer }

export function signDeviceIdentity(primary: KeyPair, companionIdentity: Buffer, deviceId: number): SignedIdentity {
  const keyIndex = keyIndexOf(deviceId)
  const timestamp = Math.floor(Date.now() / 1000)
  const details = Buffer.from(proto.ADVDeviceIdentity.encode({ rawId: keyIndex, timestamp, keyIndex }).finish())
  const accountSignature = primary.sign(Buffer.concat([ACCOUNT_PREFIX, details, companionIdentity]))
  return { details, accountSignatureKey: primary.publicKey, accountSignature }
}

/** The identity with a MAC made from the secret that only the phone and the companion know. */
export function sealIdentity(identity: SignedIdentity, advSecret: Buffer): Uint8Array {
  const details = proto.ADVSignedDeviceIdentity.encode(identity).finish()
  const hmac = createHmac('sha256', advSecret).update(details).digest()
  return proto.ADVSignedDeviceIdentityHMAC.encode({ details, hmac }).finish()
}

export function deviceSignatureInput(identity: SignedIdentity, companionIdentity: Buffer): Buffer {
  return Buffer.concat([DEVICE_PREFIX, identity.details, companionIdentity, identity.accountSignatureKey])
}

export function isCounterSigned(identity: SignedIdentity, companionIdentity: Buffer, reply: Uint8Array): boolean {
  const { deviceSignature } = proto.ADVSignedDeviceIdentity.decode(reply)
  if (!deviceSignature) return false
  return verifySignature(companionIdentity, deviceSignatureInput(identity, companionIdentity), deviceSignature)
}

const signedLists = new WeakMap<KeyPair, Map<string, Uint8Array>>()

/** The list of the user's devices as the primary device signs it. Signing is slow, and clients ask often. */
export function signKeyIndexes(primary: KeyPair, validIndexes: number[]): Uint8Array {
  const known = signedLists.get(primary) ?? new Map<string, Uint8Array>()
  signedLists.set(primary, known)
  const name = validIndexes.join()
  const currentIndex = Math.max(0, ...validIndexes)
  const list = known.get(name) ?? signedList(primary, { rawId: 1, timestamp: LISTED_AT, currentIndex, validIndexes })
  known.set(name, list)
  return list
}

function signedList(primary: KeyPair, list: proto.IADVKeyIndexList): Uint8Array {
  const details = proto.ADVKeyIndexList.encode(list).finish()
  const accountSignature = primary.sign(Buffer.concat([LIST_PREFIX, details]))
  return proto.ADVSignedKeyIndexList.encode({ details, accountSignature }).finish()
}

/** The whole proof that a device of a simulated person belongs to the person. */
export function provenIdentity(primary: KeyPair, device: KeyPair, deviceId: number): Uint8Array {
  const identity = signDeviceIdentity(primary, device.publicKey, deviceId)
  const deviceSignature = device.sign(deviceSignatureInput(identity, device.publicKey))
  return proto.ADVSignedDeviceIdentity.encode({ ...identity, deviceSignature }).finish()
}
