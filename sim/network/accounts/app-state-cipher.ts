// Encrypts and decrypts app state changes, and keeps the sum by which phone and companion see that they agree.
import { createHmac } from 'node:crypto'
import { proto } from '../library.ts'
import type { SeededRandom } from '../seeded-random.ts'
import { writeFields } from '../signal/protobuf.ts'
import { decryptCbc, derive, encryptCbc, hmac } from '../signal/primitives.ts'

export type AppStateKey = { id: Buffer; data: Buffer }
/** `more` holds fields of the value that the schema of the library does not have. */
export type Mutation = {
  index: string[]
  value: proto.ISyncActionValue
  more?: Buffer
  apiVersion: number
  remove?: boolean
}
type SealedMutation = { indexMac: Buffer; valueMac: Buffer; mutation: proto.ISyncdMutation }

const { SET, REMOVE } = proto.SyncdMutation.SyncdOperation
const HASH_BYTES = 128

function version64(version: number): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64BE(BigInt(version))
  return bytes
}

export class AppStateCipher {
  readonly #id: Buffer
  readonly #random: SeededRandom
  readonly #indexKey: Buffer
  readonly #valueKey: Buffer
  readonly #valueMacKey: Buffer
  readonly #snapshotMacKey: Buffer
  readonly #patchMacKey: Buffer

  constructor(key: AppStateKey, random: SeededRandom) {
    this.#id = key.id
    this.#random = random
    const keys = derive(key.data, Buffer.alloc(0), 'WhatsApp Mutation Keys', 160)
    this.#indexKey = keys.subarray(0, 32)
    this.#valueKey = keys.subarray(32, 64)
    this.#valueMacKey = keys.subarray(64, 96)
    this.#snapshotMacKey = keys.subarray(96, 128)
    this.#patchMacKey = keys.subarray(128, 160)
  }

  seal({ index, value, more = Buffer.alloc(0), apiVersion, remove = false }: Mutation): SealedMutation {
    const operation = remove ? REMOVE : SET
    const indexBytes = Buffer.from(JSON.stringify(index))
    const known = proto.SyncActionValue.encode(proto.SyncActionValue.fromObject(value)).finish()
    // The fields of SyncActionData: index, value, padding, version.
    const data = writeFields([
      [1, indexBytes],
      [2, Buffer.concat([known, more])],
      [3, Buffer.alloc(0)],
      [4, apiVersion],
    ])
    const iv = this.#random.bytes(16)
    const encrypted = Buffer.concat([iv, encryptCbc(this.#valueKey, iv, data)])
    const valueMac = this.#valueMac(operation, encrypted)
    const indexMac = hmac(this.#indexKey, indexBytes)
    const keyId = { id: this.#id }
    const record = { index: { blob: indexMac }, value: { blob: Buffer.concat([encrypted, valueMac]) }, keyId }
    return { indexMac, valueMac, mutation: { operation, record } }
  }

  open(mutation: proto.ISyncdMutation): { index: string[]; action: proto.ISyncActionValue; sealed: SealedMutation } {
    const blob = Buffer.from(mutation.record?.value?.blob ?? [])
    const encrypted = blob.subarray(0, -32)
    const valueMac = blob.subarray(-32)
    if (!this.#valueMac(mutation.operation ?? SET, encrypted).equals(valueMac)) throw new Error('bad value MAC')
    const plain = decryptCbc(this.#valueKey, encrypted.subarray(0, 16), encrypted.subarray(16))
    const data = proto.SyncActionData.decode(plain)
    const index = JSON.parse(Buffer.from(data.index ?? []).toString()) as string[]
    const indexMac = Buffer.from(mutation.record?.index?.blob ?? [])
    return { index, action: data.value ?? {}, sealed: { indexMac, valueMac, mutation } }
  }

  patch(collection: string, version: number, hash: Buffer, sealed: SealedMutation): Uint8Array {
    const named = Buffer.concat([version64(version), Buffer.from(collection)])
    const snapshotMac = hmac(this.#snapshotMacKey, Buffer.concat([hash, named]))
    const patchMac = hmac(this.#patchMacKey, Buffer.concat([snapshotMac, sealed.valueMac, named]))
    const keyId = { id: this.#id }
    return proto.SyncdPatch.encode({
      version: { version },
      mutations: [sealed.mutation],
      snapshotMac,
      patchMac,
      keyId,
    }).finish()
  }

  #valueMac(operation: proto.SyncdMutation.SyncdOperation, encrypted: Buffer): Buffer {
    const key = Buffer.concat([Buffer.from([operation === SET ? 1 : 2]), this.#id])
    const length = Buffer.alloc(8)
    length.writeUInt8(key.length, 7)
    const total = Buffer.concat([key, encrypted, length])
    return createHmac('sha512', this.#valueMacKey).update(total).digest().subarray(0, 32)
  }
}

/** A sum of sixteen-bit words: entries can be added and removed without knowing the other entries. */
export class SumHash {
  readonly #values = new Map<string, Buffer>()
  sum = Buffer.alloc(HASH_BYTES)

  apply({ indexMac, valueMac, mutation }: SealedMutation): void {
    const name = indexMac.toString('base64')
    const earlier = this.#values.get(name)
    if (earlier) this.#mix(earlier, -1)
    if (mutation.operation === REMOVE) this.#values.delete(name)
    else {
      this.#values.set(name, valueMac)
      this.#mix(valueMac, 1)
    }
  }

  #mix(valueMac: Buffer, sign: 1 | -1): void {
    const words = derive(valueMac, Buffer.alloc(0), 'WhatsApp Patch Integrity', HASH_BYTES)
    const sum = Buffer.from(this.sum)
    for (let at = 0; at < HASH_BYTES; at += 2) {
      sum.writeUInt16LE((sum.readUInt16LE(at) + sign * words.readUInt16LE(at)) & 0xffff, at)
    }
    this.sum = sum
  }
}
