// Signatures by the WebAssembly the library already brings along: about a hundred times faster than the script it uses.

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
    // Not even the shape of a key or a signature.
    return false
  }
}

/** In three places, because the library's modules took copies of the functions when they were loaded. */
export function useFastSignatures(): void {
  signalCurve.calculateSignature = sign
  // The library asks for no check when it opens a session from a bundle.
  signalCurve.verifySignature = (publicKey, message, signature, isInit) =>
    isInit === true || verify(publicKey, message, signature)
  Curve.sign = sign
  // The library's own check is true for any signature, so that it would accept any certificate of a server.
  Curve.verify = verify
  senderKeyMessageMethods.getSignature = sign
  senderKeyMessageMethods.verifySignature = function (key) {
    const serialized = this.serialize()
    const end = serialized.length - signatureLength
    if (!verify(key, serialized.subarray(0, end), serialized.subarray(end))) throw new Error('Invalid signature!')
  }
}
