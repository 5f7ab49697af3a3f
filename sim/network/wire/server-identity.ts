// The server's static key and its certificate chain: root key → intermediate → leaf.
import { proto } from '../library.ts'
import type { SeededRandom } from '../seeded-random.ts'
import { KeyPair } from '../signal/curve.ts'

const NEVER = 4_000_000_000

/** What a server shows in the handshake. */
export type ShownIdentity = Pick<ServerIdentity, 'staticKey' | 'certificate'>

export class ServerIdentity {
  readonly staticKey: KeyPair
  readonly certificate: Buffer
  /** The public part of the root key, which a client must trust. */
  readonly rootKey: Buffer

  constructor(random: SeededRandom) {
    const root = new KeyPair(random.bytes(32))
    const intermediate = new KeyPair(random.bytes(32))
    this.staticKey = new KeyPair(random.bytes(32))
    this.rootKey = root.publicKey
    this.certificate = Buffer.from(
      proto.CertChain.encode({
        intermediate: certify(root, { serial: 1, issuerSerial: 0, key: intermediate.publicKey }),
        leaf: certify(intermediate, { serial: 2, issuerSerial: 1, key: this.staticKey.publicKey }),
      }).finish(),
    )
  }

  /** A server with the genuine certificate and a key of its own, because the genuine key is secret. */
  impersonated(random: SeededRandom): ShownIdentity {
    return { staticKey: new KeyPair(random.bytes(32)), certificate: this.certificate }
  }
}

function certify(
  issuer: KeyPair,
  subject: { serial: number; issuerSerial: number; key: Buffer },
): {
  details: Uint8Array
  signature: Uint8Array
} {
  const details = proto.CertChain.NoiseCertificate.Details.encode({
    ...subject,
    notBefore: 0,
    notAfter: NEVER,
  }).finish()
  return { details, signature: issuer.sign(details) }
}
