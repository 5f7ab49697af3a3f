import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Curve, generateSignalPubKey, initAuthCreds, stockRepository } from '../library/library.ts'
import type { LibraryLogger, SignalAuthState } from '../library/library.ts'
import { sealWithSession } from './session-seal.ts'
import type { SessionRecord } from './session-seal.ts'

const logger = { level: 'silent', trace: () => undefined, warn: () => undefined } as unknown as LibraryLogger
const jid = '5511888880001:2@s.whatsapp.net'
const address = '5511888880001.2'

/** The library's own repository with a session that the other side has not answered yet. */
async function opened() {
  const sessions: Record<string, SessionRecord> = {}
  const keys = {
    get: (kind: string) => Promise.resolve(kind === 'session' ? structuredClone(sessions) : {}),
    set: ({ session }: { session?: typeof sessions }) => Promise.resolve(Object.assign(sessions, session)),
    transaction: <T>(work: () => Promise<T>) => work(),
  }
  const creds = initAuthCreds()
  const library = stockRepository({ creds, keys } as unknown as SignalAuthState, logger, () => Promise.resolve([]))
  const theirs = initAuthCreds()
  const { keyId, keyPair, signature } = theirs.signedPreKey
  const session = {
    registrationId: theirs.registrationId,
    identityKey: generateSignalPubKey(theirs.signedIdentityKey.public),
    signedPreKey: { keyId, publicKey: generateSignalPubKey(keyPair.public), signature },
    preKey: { keyId: 7, publicKey: generateSignalPubKey(Curve.generateKeyPair().public) },
  }
  await library.injectE2ESession({ jid, session })
  const own = { publicKey: generateSignalPubKey(creds.signedIdentityKey.public), registrationId: creds.registrationId }
  return { library, sessions, own }
}

function copyOf(record: SessionRecord | undefined): SessionRecord {
  assert.ok(record)
  return structuredClone(record)
}

function openSessionOf({ _sessions = {} }: SessionRecord) {
  const [session] = Object.values(_sessions)
  assert.ok(session)
  return session
}

for (const type of ['pkmsg', 'msg'] as const) {
  test(`a ${type} is sealed like by the library, and the session advances alike`, async () => {
    const { library, sessions, own } = await opened()
    const record = copyOf(sessions[address])
    if (type === 'msg') delete openSessionOf(record).pendingPreKey
    sessions[address] = copyOf(record)
    for (const text of ['first', 'second', 'x'.repeat(5000)]) {
      const data = Buffer.from(text)
      const expected = await library.encryptMessage({ jid, data })
      const sealed = sealWithSession(record, data, own)
      assert.equal(sealed?.type, type)
      assert.deepEqual(sealed, { type: expected.type, ciphertext: Buffer.from(expected.ciphertext) })
      assert.deepEqual(record, copyOf(sessions[address]))
    }
  })
}

test('a record that the library must handle is not touched', async () => {
  const { sessions, own } = await opened()
  const record = copyOf(sessions[address])
  const session = openSessionOf(record)
  const closed = { ...session, indexInfo: { ...session.indexInfo, closed: 1 } }
  const many = Array.from({ length: 40 }, (_, n) => [String(n), closed] as const)
  const cases: SessionRecord[] = [
    {},
    { ...record, version: 'v0' },
    { ...record, _sessions: { closed } },
    { ...record, _sessions: { ...Object.fromEntries(many), open: session } },
    { ...record, _sessions: { open: { ...session, _chains: {} } } },
  ]
  for (const each of cases) {
    const before = structuredClone(each)
    assert.equal(sealWithSession(each, Buffer.from('text'), own), undefined)
    assert.deepEqual(each, before)
  }
})
