// Corrects slow key pairs and shared secrets in libsignal. No upstream issue is known.
//
// The patch uses the WebAssembly module that the library already installs. Opening a session then takes two thirds of the
// time. The module draws from the same source of randomness as Node.

import { fastCurve, signalCurve } from '../library.ts'

const keyLength = 32

export function useFastAgreements(): void {
  signalCurve.generateKeyPair = () => {
    const { pubKey, privKey } = fastCurve.generateKeyPair()
    return { pubKey: Buffer.from(pubKey), privKey: Buffer.from(privKey) }
  }
  const slowAgreement = signalCurve.calculateAgreement
  signalCurve.calculateAgreement = (publicKey, privateKey) => {
    // The library's own function refuses keys of a wrong length, with its own error.
    if (publicKey.length !== keyLength + 1 || privateKey.length !== keyLength) {
      return slowAgreement(publicKey, privateKey)
    }
    const secret = Buffer.from(fastCurve.calculateAgreement(publicKey, privateKey))
    // Some invalid public keys lead to the same secret for every private key.
    if (secret.every((byte) => byte === 0)) throw new Error('Invalid public key')
    return secret
  }
}
