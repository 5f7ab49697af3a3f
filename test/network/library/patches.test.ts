// The faults of the library that are patched: each shown first as it is, then gone. One process, so the order matters.
// Runs alone: it replaces the console of its process.

import assert from 'node:assert/strict'
import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { generateSignalPubKey } from 'baileys'
import { applyLibraryPatches } from '../../../src/network/library/patches/apply.ts'
import { Curve, initAuthCreds, signalCurve, stockRepository } from '../../../src/network/library/library.ts'
import type { LibraryLogger, SignalAuthState } from '../../../src/network/library/library.ts'

const nothing = () => undefined
const lines = { trace: nothing, debug: nothing, info: nothing, warn: nothing, error: nothing }
const logger = { level: 'silent', ...lines } as unknown as LibraryLogger
const { calculateAgreement: libraryAgreement, generateKeyPair: libraryKeyPair } = signalCurve
const printed: unknown[] = []
for (const method of ['info', 'warn', 'error', 'log'] as const) {
  globalThis.console[method] = (...words: unknown[]) => void printed.push(words[0])
}

/** One side of a conversation: the library's repository over a map. */
function side(jid: string) {
  const rows = new Map<string, unknown>()
  const creds = { ...initAuthCreds(), me: { id: jid } }
  const keys = {
    get(kind: string, ids: string[]) {
      const known = ids.filter((id) => rows.has(kind + id))
      return Promise.resolve(Object.fromEntries(known.map((id) => [id, rows.get(kind + id)])))
    },
    set(changes: Record<string, Record<string, unknown>>) {
      for (const [kind, values] of Object.entries(changes)) {
        for (const [id, value] of Object.entries(values)) rows.set(kind + id, value)
      }
      return Promise.resolve()
    },
    transaction: <T>(work: () => Promise<T>) => work(),
  }
  const repository = stockRepository({ creds, keys } as unknown as SignalAuthState, logger, () => Promise.resolve([]))
  let preKeyId = 0
  const bundle = () => {
    preKeyId += 1
    const pair = Curve.generateKeyPair()
    rows.set(`pre-key${preKeyId}`, pair)
    const { keyId, keyPair, signature } = creds.signedPreKey
    return {
      registrationId: creds.registrationId,
      identityKey: generateSignalPubKey(creds.signedIdentityKey.public),
      signedPreKey: { keyId, publicKey: generateSignalPubKey(keyPair.public), signature },
      preKey: { keyId: preKeyId, publicKey: generateSignalPubKey(pair.public) },
    }
  }
  return { jid, repository, bundle, rows }
}
type Side = ReturnType<typeof side>
type Sealed = { type: 'pkmsg' | 'msg'; ciphertext: Uint8Array }

function seal(from: Side, to: Side, text: string): Promise<Sealed> {
  return from.repository.encryptMessage({ jid: to.jid, data: Buffer.from(text) })
}

function succeeds(work: Promise<unknown>): Promise<boolean> {
  return work.then(
    () => true,
    () => false,
  )
}

function opens(at: Side, from: Side, { type, ciphertext }: Sealed): Promise<boolean> {
  return succeeds(at.repository.decryptMessage({ jid: from.jid, type, ciphertext }))
}

/** A message on the old session arrives after a new one was opened: does it open, and does the new one work both ways? */
async function survivesLateMessage(): Promise<boolean[]> {
  const [alice, bob] = [side('111@lid'), side('222@lid')]
  await alice.repository.injectE2ESession({ jid: bob.jid, session: bob.bundle() })
  await opens(bob, alice, await seal(alice, bob, 'hello'))
  await opens(alice, bob, await seal(bob, alice, 'hi'))
  await opens(bob, alice, await seal(alice, bob, 'how are you'))
  const late = await seal(bob, alice, 'late')
  await alice.repository.injectE2ESession({ jid: bob.jid, session: bob.bundle() })
  await opens(bob, alice, await seal(alice, bob, 'back'))
  return [
    await opens(alice, bob, late),
    await opens(alice, bob, await seal(bob, alice, 'welcome')),
    await opens(bob, alice, await seal(alice, bob, 'thanks')),
  ]
}

/** Group messages of which the second comes after the third, and a key that is announced three times. */
async function groupInDisorder(): Promise<{ opened: boolean[]; states: number; ownRecord: number }> {
  const [alice, bob] = [side('111@lid'), side('222@lid')]
  const group = '1@g.us'
  const sent = []
  for (let n = 0; n < 60; n++) {
    sent.push(await bob.repository.encryptGroupMessage({ group, meId: bob.jid, data: Buffer.from(`text ${n}`) }))
  }
  const item = { groupId: group, axolotlSenderKeyDistributionMessage: sent[0]?.senderKeyDistributionMessage ?? null }
  for (let n = 0; n < 3; n++) await alice.repository.processSenderKeyDistributionMessage({ authorJid: bob.jid, item })
  const opened: boolean[] = []
  for (const n of [0, 2, 1, 3]) {
    const msg = sent[n]?.ciphertext ?? Buffer.alloc(0)
    opened.push(await succeeds(alice.repository.decryptGroupMessage({ group, authorJid: bob.jid, msg })))
  }
  const record = (at: Side) => [...at.rows].find(([name]) => name.startsWith('sender-key'))?.[1] as Buffer
  const { length: states } = JSON.parse(record(alice).toString()) as unknown[]
  return { opened, states, ownRecord: record(bob).length }
}

test('the library as it is damages a session it only tries, and cannot open overtaken group messages', async () => {
  assert.deepEqual(await survivesLateMessage(), [true, false, false])
  const { opened, states, ownRecord } = await groupInDisorder()
  assert.deepEqual(opened, [true, true, false, true])
  assert.equal(states, 3)
  assert.ok(ownRecord > 5_000, 'the own record grows with every message')
  assert.ok(printed.length > 0, 'sessions are printed')
})

test('patched, a late message leaves the new session alone', async () => {
  applyLibraryPatches()
  applyLibraryPatches()
  assert.deepEqual(await survivesLateMessage(), [true, true, true])
})

test('patched, overtaken group messages open, keys are kept once and the own chain stays short', async () => {
  const { opened, states, ownRecord } = await groupInDisorder()
  assert.deepEqual(opened, [true, true, true, true])
  assert.equal(states, 1)
  assert.ok(ownRecord < 1_500, `the own record has ${ownRecord} bytes`)
})

test('patched, signatures are checked', () => {
  const { private: key, public: publicKey } = Curve.generateKeyPair()
  const signature = Curve.sign(key, Buffer.from('text'))
  assert.equal(Curve.verify(publicKey, Buffer.from('text'), signature), true)
  assert.equal(Curve.verify(publicKey, Buffer.from('other'), signature), false)
  assert.equal(Curve.verify(publicKey, Buffer.from('text'), Buffer.alloc(3)), false)
  // The Signal library asks for no check when it opens a session, and for one otherwise.
  const signed = (text: string, isInit: boolean) =>
    signalCurve.verifySignature(publicKey, Buffer.from(text), signature, isInit)
  assert.deepEqual([signed('text', false), signed('other', false), signed('other', true)], [true, false, true])
})

test('patched, key pairs and shared secrets are those of the library', () => {
  for (let n = 0; n < 20; n++) {
    const [ours, theirs] = [signalCurve.generateKeyPair(), libraryKeyPair()]
    const secret = libraryAgreement(theirs.pubKey, ours.privKey)
    assert.deepEqual(signalCurve.calculateAgreement(theirs.pubKey, ours.privKey), secret)
    assert.deepEqual(signalCurve.calculateAgreement(ours.pubKey, theirs.privKey), secret)
  }
  const { privKey } = signalCurve.generateKeyPair()
  const sameForAll = Buffer.concat([Buffer.of(5), Buffer.alloc(32)])
  for (const agree of [libraryAgreement, signalCurve.calculateAgreement]) {
    assert.throws(() => agree(sameForAll, privKey))
    assert.throws(() => agree(Buffer.alloc(7), privKey))
  }
})

test('patched, ciphers take keys as bytes, as objects and as texts', () => {
  const [key, iv] = [Buffer.from('0123456789abcdef0123456789abcdef'), randomBytes(16)]
  const expected = 'what was sealed'
  assert.equal(
    createHmac('sha256', key).update('text').digest('hex'),
    createHmac('sha256', key.toString()).update('text').digest('hex'),
  )
  const cipher = createCipheriv('aes-256-cbc', key, iv)
  const sealed = Buffer.concat([cipher.update(expected), cipher.final()])
  const decipher = createDecipheriv('aes-256-cbc', new Uint8Array(key), iv)
  assert.equal(Buffer.concat([decipher.update(sealed), decipher.final()]).toString(), expected)
  assert.throws(() => createCipheriv('aes-256-cbc', Buffer.alloc(3), iv), /key length/i)
})

test('patched, the Signal library prints nothing, and other code still prints', async () => {
  printed.length = 0
  await survivesLateMessage()
  const { console: terminal } = globalThis
  terminal.info('mine')
  assert.deepEqual(printed, ['mine'])
})
