// The simulator's own certificate authority: media travel over https, and tests keep their certificate checks.
import { createHash, generateKeyPairSync, sign, type KeyObject } from 'node:crypto'
import type { SeededRandom } from '../seeded-random.ts'
import { bits, der, integer, numbered, objectId, octets, sequence, set, text, time, yes } from './der.ts'

const ECDSA_SHA256 = sequence(objectId('1.2.840.10045.4.3.2'))
const YEAR_MS = 365 * 24 * 3_600_000

type Subject = { name: string; publicKey: KeyObject; extensions: Buffer[] }

export class CertificateAuthority {
  readonly pem: string
  readonly #key: KeyObject
  readonly #name: string
  readonly #random: SeededRandom

  constructor(random: SeededRandom) {
    this.#random = random
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    this.#key = privateKey
    // The name contains a hash of the key: a verifier that trusts several simulators finds the issuer by its name.
    const spki = publicKey.export({ type: 'spki', format: 'der' })
    this.#name = `Causeway simulator ${createHash('sha256').update(spki).digest('hex').slice(0, 16)}`
    const mayCertify = extension('2.5.29.19', sequence(yes()), true)
    const certifies = extension('2.5.29.15', bits(Buffer.from([0x06]), 1), true)
    this.pem = this.#issue({ name: this.#name, publicKey, extensions: [mayCertify, certifies] })
  }

  /** The key and the certificate of a server on the loopback address. */
  loopbackServer(): { key: string; cert: string } {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const localhost = der(0x82, Buffer.from('localhost'))
    const loopback = der(0x87, Buffer.from([127, 0, 0, 1]))
    const names = extension('2.5.29.17', sequence(localhost, loopback))
    const serves = extension('2.5.29.37', sequence(objectId('1.3.6.1.5.5.7.3.1')))
    const cert = this.#issue({ name: 'localhost', publicKey, extensions: [names, serves] })
    return { key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(), cert }
  }

  #issue({ name, publicKey, extensions }: Subject): string {
    const serial = this.#random.bytes(8)
    serial[0] = ((serial[0] ?? 0) & 0x7f) | 0x40
    const now = Date.now()
    const body = sequence(
      numbered(0, integer(Buffer.from([2]))),
      integer(serial),
      ECDSA_SHA256,
      commonName(this.#name),
      sequence(time(new Date(now - YEAR_MS)), time(new Date(now + YEAR_MS))),
      commonName(name),
      publicKey.export({ type: 'spki', format: 'der' }),
      numbered(3, sequence(...extensions)),
    )
    const certificate = sequence(body, ECDSA_SHA256, bits(sign('sha256', body, this.#key)))
    const lines = certificate.toString('base64').match(/.{1,64}/g) ?? []
    return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`
  }
}

function commonName(name: string): Buffer {
  return sequence(set(sequence(objectId('2.5.4.3'), text(name))))
}

function extension(id: string, value: Buffer, critical = false): Buffer {
  return critical ? sequence(objectId(id), yes(), octets(value)) : sequence(objectId(id), octets(value))
}
