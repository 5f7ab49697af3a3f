// Signs the identity of a companion as its phone does, and checks the companion's counter-signature.
import { createHmac } from 'node:crypto'
import { proto } from '../library.ts'
import { verifySignature, type KeyPair } from '../signal/curve.ts'

const ACCOUNT_PREFIX = Buffer.from([6, 0])
const DEVICE_PREFIX = Buffer.from([6, 1])

export type SignedIdentity = { details: Buffer; accountSignatureKey: Buffer; accountSignature: Buffer }

export function signDeviceIdentity(primary: KeyPair, companionIdentity: Buffer, keyIndex: number): SignedIdentity {
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
