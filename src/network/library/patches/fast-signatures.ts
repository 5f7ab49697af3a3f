// Corrects two faults of signatures: they are slow, and the library accepts any signature. No upstream issue is known.
//
// The patch uses the WebAssembly module that the library already installs, which is about a hundred times faster.

import { Curve, fastCurve, senderKeyMessageMethods, signalCurve } from '../library.ts'

const keyType = Buffer.from([5])
const signatureLength = 64

function sign(privateKey: Uint8Array, message: Uint8Array): Buffer {
  return Buffer.from(fastCurve.calculateSignature(privateKey, message))
}

function verify(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  const typed = publicKey.length === 32 ? Buffer.concat([keyType, publicKey]) : publicKey
  try {
    return fastCurve.verifySignature(typed, message, signature)
  } catch {
    // The key or the signature has a wrong length.
    return false
  }
}

/** The functions are replaced in three places, because the library's modules copy them when they are loaded. */
export function useFastSignatures(): void {
  signalCurve.calculateSignature = sign
  // When the library opens a session from a bundle, it asks for no check.
  signalCurve.verifySignature = (publicKey, message, signature, isInit) =>
    isInit === true || verify(publicKey, message, signature)
  Curve.sign = sign
  // The library's own check returns true for any signature, so it would accept any server certificate.
  Curve.verify = verify
  senderKeyMessageMethods.getSignature = sign
  senderKeyMessageMethods.verifySignature = function (key) {
    const serialized = this.serialize()
    const end = serialized.length - signatureLength
    if (!verify(key, serialized.subarray(0, end), serialized.subarray(end))) throw new Error('Invalid signature!')
  }
}
