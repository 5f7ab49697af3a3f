import assert from 'node:assert/strict'
import crypto, { createCipheriv, createDecipheriv, createHmac, createSecretKey } from 'node:crypto'
import { createRequire } from 'node:module'
import { test } from 'node:test'
import { wrapKeys } from './fast-keys.ts'

const key = Buffer.alloc(32, 7)
const iv = Buffer.alloc(12, 9)

function results() {
  const keys = [key, new Uint8Array(key), Buffer.alloc(0), 'a text', createSecretKey(key)]
  const codes = keys.map((each) => createHmac('sha256', each).update('message').digest('hex'))
  const cipher = createCipheriv('aes-256-gcm', key, iv)
  const sealed = Buffer.concat([cipher.update('message'), cipher.final()])
  const decipher = createDecipheriv('aes-256-gcm', key, iv).setAuthTag(cipher.getAuthTag())
  const opened = Buffer.concat([decipher.update(sealed), decipher.final()]).toString()
  return { codes, sealed: sealed.toString('hex'), opened }
}

test('keys as bytes, texts or key objects give the same results as before', () => {
  const originals = [crypto.createHmac, crypto.createCipheriv, crypto.createDecipheriv] as unknown[]
  const before = results()
  wrapKeys()
  // The replacement reaches code that imports the function by name and code that requires the module.
  for (const replaced of [createHmac, createCipheriv, createDecipheriv]) assert.ok(!originals.includes(replaced))
  assert.equal((createRequire(import.meta.url)('node:crypto') as typeof crypto).createHmac, createHmac)
  assert.deepEqual(results(), before)
  assert.equal(before.opened, 'message')
})

test('a key of a wrong length is refused as before', () => {
  assert.throws(() => createCipheriv('aes-256-gcm', key.subarray(1), iv), { code: 'ERR_CRYPTO_INVALID_KEYLEN' })
})
