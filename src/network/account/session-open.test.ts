import assert from 'node:assert/strict'
import { createHmac, randomBytes } from 'node:crypto'
import { createRequire } from 'node:module'
import { test } from 'node:test'
import { macOf } from './message-keys.ts'
import { openWithSession } from './session-open.ts'
import type { StoredSessions } from './session-open.ts'

type Pair = { pubKey: Buffer; privKey: Buffer }
type Curve = { generateKeyPair(): Pair; calculateSignature(key: Uint8Array, message: Uint8Array): Buffer }
type SessionRecord = { serialize(): StoredSessions }
type Cipher = {
  encrypt(data: Buffer): Promise<{ type: number; body: string }>
  decryptPreKeyWhisperMessage(data: Buffer): Promise<Buffer>
  decryptWhisperMessage(data: Buffer): Promise<Buffer>
}
type Libsignal = {
  ProtocolAddress: new (name: string, device: number) => object
  SessionRecord: { deserialize(stored: object): SessionRecord }
  SessionCipher: new (storage: object, address: object) => Cipher
  SessionBuilder: new (storage: object, address: object) => { initOutgoing(bundle: object): Promise<void> }
}
const require = createRequire(import.meta.url)
const libsignal = require('libsignal') as Libsignal
const curve = require('libsignal/src/curve.js') as Curve

/** One side of a conversation. Its sessions are kept as they are stored. */
class Side {
  readonly identity = curve.generateKeyPair()
  readonly preKey = curve.generateKeyPair()
  readonly signedKey = curve.generateKeyPair()
  sessions: StoredSessions | undefined
  readonly address = new libsignal.ProtocolAddress('other', 0)
  readonly storage = {
    loadSession: () => Promise.resolve(this.sessions && libsignal.SessionRecord.deserialize(this.sessions)),
    storeSession: (_: string, record: SessionRecord) => {
      this.sessions = JSON.parse(JSON.stringify(record.serialize())) as StoredSessions
      return Promise.resolve()
    },
    isTrustedIdentity: () => true,
    loadPreKey: () => Promise.resolve(this.preKey),
    removePreKey: () => Promise.resolve(),
    loadSignedPreKey: () => this.signedKey,
    getOurRegistrationId: () => 7,
    getOurIdentity: () => this.identity,
  }

  get cipher(): Cipher {
    return new libsignal.SessionCipher(this.storage, this.address)
  }

  async seal(text: string) {
    const { type, body } = await this.cipher.encrypt(Buffer.from(text))
    return { type: type === 3 ? ('pkmsg' as const) : ('msg' as const), ciphertext: Buffer.from(body, 'binary') }
  }

  async openByLibsignal({ type, ciphertext }: Awaited<ReturnType<Side['seal']>>): Promise<string> {
    const { cipher } = this
    const open =
      type === 'pkmsg' ? cipher.decryptPreKeyWhisperMessage(ciphertext) : cipher.decryptWhisperMessage(ciphertext)
    return (await open).toString()
  }

  open(sealed: Awaited<ReturnType<Side['seal']>>, theirs: Side): string | undefined {
    const context = { theirIdentity: theirs.identity.pubKey, ownIdentity: this.identity.pubKey, now: () => 1 }
    return openWithSession(this.sessions ?? {}, sealed, context)?.toString()
  }
}

async function talking(): Promise<[Side, Side]> {
  const [alice, bob] = [new Side(), new Side()]
  await new libsignal.SessionBuilder(alice.storage, alice.address).initOutgoing({
    registrationId: 7,
    identityKey: bob.identity.pubKey,
    signedPreKey: {
      keyId: 1,
      publicKey: bob.signedKey.pubKey,
      signature: curve.calculateSignature(bob.identity.privKey, bob.signedKey.pubKey),
    },
    preKey: { keyId: 1, publicKey: bob.preKey.pubKey },
  })
  assert.equal(await bob.openByLibsignal(await alice.seal('first')), 'first')
  return [alice, bob]
}

/** The time of the last use is the only thing that may differ. */
function withoutTimes(sessions: StoredSessions | undefined): unknown {
  return JSON.parse(JSON.stringify(sessions), (key, value: unknown) => (key === 'used' ? 0 : value))
}

test('a session is after a message as libsignal leaves it', async () => {
  const [alice, bob] = await talking()
  for (const turn of ['before the answer', 'after the answer']) {
    for (let round = 0; round < 5; round++) {
      const sealed = await alice.seal(`${turn} ${round}`)
      assert.equal(sealed.type, turn === 'before the answer' ? 'pkmsg' : 'msg')
      const before = structuredClone(bob.sessions)
      const opened = bob.open(sealed, alice)
      const ours = bob.sessions
      bob.sessions = before
      assert.equal(await bob.openByLibsignal(sealed), `${turn} ${round}`)
      const isRatchetStep = turn === 'after the answer' && round === 0
      assert.equal(opened, isRatchetStep ? undefined : `${turn} ${round}`)
      if (!isRatchetStep) assert.deepEqual(withoutTimes(ours), withoutTimes(bob.sessions))
    }
    assert.equal(await alice.openByLibsignal(await bob.seal('an answer')), 'an answer')
  }
})

test('libsignal opens what is not the next message: the sessions stay as they are', async () => {
  const [alice, bob] = await talking()
  const [overtaken, next] = [await alice.seal('overtaken'), await alice.seal('next')]
  const damaged = { ...overtaken, ciphertext: Buffer.from(overtaken.ciphertext) }
  // Behind the code are two numbers, of two bytes each.
  const lastOfCode = damaged.ciphertext.length - 5
  damaged.ciphertext[lastOfCode] = (damaged.ciphertext[lastOfCode] ?? 0) ^ 1
  const before = structuredClone(bob.sessions)
  for (const sealed of [next, damaged]) assert.equal(bob.open(sealed, alice), undefined)
  assert.equal(bob.open(overtaken, bob), undefined, 'another identity than the stored one')
  assert.deepEqual(bob.sessions, before)
  assert.equal(bob.open(overtaken, alice), 'overtaken')
  assert.equal(bob.open(overtaken, alice), undefined, 'a message is opened once')
  assert.equal(bob.open(next, alice), 'next')
})

test('the code of a message is an HMAC with SHA-256', () => {
  for (const [keyBytes, dataBytes] of [
    [0, 0],
    [32, 1],
    [32, 300],
    [64, 65],
    [32, 5_000],
  ] as const) {
    const [key, data] = [randomBytes(keyBytes), randomBytes(dataBytes)]
    const expected = createHmac('sha256', key).update(data).digest()
    assert.deepEqual(macOf(key, data.subarray(0, 1), data.subarray(1)), expected)
  }
  assert.throws(() => macOf(randomBytes(65)), RangeError)
})
