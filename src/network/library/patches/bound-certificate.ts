// Corrects the check of the server's certificate: the library does not compare the key of the certificate with the server's.
//
// A certificate is public. Without the comparison any server could show a genuine certificate and use a key of its own. The
// library agrees on a secret with the server's key and then reads the certificate, in one go: between the two calls no other
// code runs. So the last key before the certificate is the server's. Whatsmeow's handshake compares the two keys as well.

import { Curve, proto } from '../library.ts'

type Certificate = { details?: Uint8Array | null } | null | undefined

const { CertChain } = proto

export function bindCertificateToKey(): void {
  const { sharedKey } = Curve
  const decode = CertChain.decode.bind(CertChain)
  let serverKey: Uint8Array = Buffer.alloc(0)
  Curve.sharedKey = (privateKey, publicKey) => {
    serverKey = publicKey
    return sharedKey(privateKey, publicKey)
  }
  CertChain.decode = (...encoded) => {
    const chain = decode(...encoded)
    const leaf = detailsOf(chain.leaf)
    const isIssued = Number(leaf.issuerSerial) === Number(detailsOf(chain.intermediate).serial)
    const isBound = Buffer.compare(leaf.key ?? Buffer.alloc(0), serverKey) === 0
    if (!isIssued || !isBound) throw new Error('foreign certificate: the server does not have its key')
    return chain
  }
}

function detailsOf(certificate: Certificate) {
  return CertChain.NoiseCertificate.Details.decode(certificate?.details ?? new Uint8Array())
}
