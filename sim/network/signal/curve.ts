// Curve25519 key pairs that agree on secrets and also sign, on node's native primitives.
//
// The signature scheme of the protocol (XEdDSA) signs with an agreement key. The opposite way is native and fast: every
// key starts as an Ed25519 seed, and the scalar of that seed is also a valid X25519 private key of the same point.
import { createHash, createPrivateKey, createPublicKey, diffieHellman, sign, verify, type KeyObject } from 'node:crypto'
import { Memo } from './memo.ts'

const X25519_PRIVATE = Buffer.from('302e020100300506032b656e04220420', 'hex')
const X25519_PUBLIC = Buffer.from('302a300506032b656e032100', 'hex')
const ED25519_PRIVATE = Buffer.from('302e020100300506032b657004220420', 'hex')
const ED25519_PUBLIC = Buffer.from('302a300506032b6570032100', 'hex')
const PRIME = 2n ** 255n - 19n

const privateKeyOf = (prefix: Buffer, raw: Buffer): KeyObject =>
  createPrivateKey({ key: Buffer.concat([prefix, raw]), format: 'der', type: 'pkcs8' })
const publicKeyOf = (prefix: Buffer, raw: Uint8Array): KeyObject =>
  createPublicKey({ key: Buffer.concat([prefix, raw]), format: 'der', type: 'spki' })
/** Uses JWK, which is many times faster than DER. */
const rawPublic = (key: KeyObject): Buffer => Buffer.from(key.export({ format: 'jwk' }).x ?? '', 'base64url')

export class KeyPair {
  readonly publicKey: Buffer
  /** The X25519 scalar. The client library stores private keys in this form. */
  readonly privateKey: Buffer
  readonly #seed: Buffer
  readonly #agreement: KeyObject
  #signing: { key: KeyObject; signBit: number } | undefined

  constructor(seed: Buffer) {
    this.#seed = seed
    this.privateKey = scalarOf(seed)
    this.#agreement = privateKeyOf(X25519_PRIVATE, this.privateKey)
    this.publicKey = rawPublic(this.#agreement)
  }

  /** The public key with its type byte, as it appears inside Signal messages. */
  get typedPublicKey(): Buffer {
    return typed(this.publicKey)
  }

  agree(theirs: Uint8Array): Buffer {
    return diffieHellman({ privateKey: this.#agreement, publicKey: publicKeyOf(X25519_PUBLIC, untyped(theirs)) })
  }

  sign(message: Uint8Array): Buffer {
    this.#signing ??= signingKey(this.#seed)
    const signature = sign(null, message, this.#signing.key)
    signature[63] = (signature[63] ?? 0) | this.#signing.signBit
    return signature
  }
}

function scalarOf(seed: Buffer): Buffer {
  const scalar = createHash('sha512').update(seed).digest().subarray(0, 32)
  scalar[0] = (scalar[0] ?? 0) & 248
  scalar[31] = ((scalar[31] ?? 0) & 127) | 64
  return scalar
}

function signingKey(seed: Buffer): { key: KeyObject; signBit: number } {
  const key = privateKeyOf(ED25519_PRIVATE, seed)
  return { key, signBit: (rawPublic(key)[31] ?? 0) & 128 }
}

/** Agrees on a secret with a private key of which only the scalar is known. */
export function agreeWithScalar(scalar: Buffer, theirs: Uint8Array): Buffer {
  const privateKey = privateKeyOf(X25519_PRIVATE, scalar)
  return diffieHellman({ privateKey, publicKey: publicKeyOf(X25519_PUBLIC, untyped(theirs)) })
}

export function typed(key: Uint8Array): Buffer {
  return key.length === 33 ? Buffer.from(key) : Buffer.concat([Buffer.from([5]), key])
}

export function untyped(key: Uint8Array): Buffer {
  return Buffer.from(key.length === 33 ? key.subarray(1) : key)
}

export function verifySignature(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  const plain = Buffer.from(signature)
  const signBit = (plain[63] ?? 0) & 128
  plain[63] = (plain[63] ?? 0) & 127
  return verify(null, message, verifyingKey(untyped(publicKey), signBit), plain)
}

/** All members of a group check the same author, and computing the point takes longer than checking. */
const verifyingKeys = new Memo<KeyObject>()

function verifyingKey(publicKey: Buffer, signBit: number): KeyObject {
  return verifyingKeys.get([publicKey, String(signBit)], () => {
    const point = edwardsPoint(publicKey)
    point[31] = (point[31] ?? 0) | signBit
    return publicKeyOf(ED25519_PUBLIC, point)
  })
}

/** y = (u - 1) / (u + 1): the same point on the curve that Ed25519 uses. */
function edwardsPoint(montgomery: Buffer): Buffer {
  const u = BigInt(`0x${Buffer.from(montgomery).reverse().toString('hex')}`) % PRIME
  const y = ((u - 1n + PRIME) * power(u + 1n, PRIME - 2n)) % PRIME
  return Buffer.from(y.toString(16).padStart(64, '0'), 'hex').reverse()
}

function power(base: bigint, exponent: bigint): bigint {
  let result = 1n
  let square = base % PRIME
  for (let rest = exponent; rest > 0n; rest >>= 1n) {
    if (rest & 1n) result = (result * square) % PRIME
    square = (square * square) % PRIME
  }
  return result
}
