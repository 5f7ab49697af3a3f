// Key pairs and shared secrets by the WebAssembly the library already brings along: what opens a session takes two thirds
// of the time. It draws from the same source of randomness as Node.

import { fastCurve, signalCurve } from '../library.ts'

const keyLength = 32

export function useFastAgreements(): void {
  signalCurve.generateKeyPair = () => {
    const { pubKey, privKey } = fastCurve.generateKeyPair()
    return { pubKey: Buffer.from(pubKey), privKey: Buffer.from(privKey) }
  }
  const slowAgreement = signalCurve.calculateAgreement
  signalCurve.calculateAgreement = (publicKey, privateKey) => {
    // Whatever is not the shape of a key is refused in the library's own words.
    if (publicKey.length !== keyLength + 1 || privateKey.length !== keyLength) {
      return slowAgreement(publicKey, privateKey)
    }
    const secret = Buffer.from(fastCurve.calculateAgreement(publicKey, privateKey))
    // A public key that makes every secret the same one.
    if (secret.every((byte) => byte === 0)) throw new Error('Invalid public key')
    return secret
  }
}
