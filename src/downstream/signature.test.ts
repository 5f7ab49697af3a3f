import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { carriesSignature, checkSignature, checkSignatures } from './signature.ts'

const now = Date.UTC(2026, 0, 15, 12)
const secret = 'the secret'
const rawBody = Buffer.from('{"event":"message_created"}')
const hex = (text: string | Buffer, key = secret) => createHmac('sha256', key).update(text).digest('hex')

function chatwoot(at: number, key = secret) {
  const timestamp = String(Math.floor(at / 1000))
  return {
    'x-chatwoot-timestamp': timestamp,
    'x-chatwoot-signature': `sha256=${hex(`${timestamp}.${rawBody.toString()}`, key)}`,
  }
}

const isSigned = (...args: Parameters<typeof checkSignature>) => checkSignature(...args) === 'right'

test('both ways of signing are accepted, the hexadecimal digits in any case', () => {
  const plain = { 'x-service-signature': `sha256=${hex(rawBody)}` }
  const upper = { 'x-service-signature': `sha256=${hex(rawBody).toUpperCase()}` }
  for (const headers of [plain, upper, chatwoot(now)]) assert.equal(isSigned({ headers, rawBody }, secret, now), true)
})

test('one valid signature is enough, also beside a wrong one', () => {
  const headers = { ...chatwoot(now), 'x-service-signature': 'sha256=nonsense' }
  assert.equal(isSigned({ headers, rawBody }, secret, now), true)
})

test('a timestamp is good for five minutes, before and after', () => {
  const at = (offset: number) => isSigned({ headers: chatwoot(now + offset), rawBody }, secret, now)
  assert.deepEqual([-300_000, 300_000].map(at), [true, true])
  assert.deepEqual([-301_000, 301_000].map(at), [false, false])
})

test('a right signature with a timestamp far away tells how far; a wrong one stays wrong', () => {
  const at = (offset: number, key?: string) =>
    checkSignature({ headers: chatwoot(now + offset, key), rawBody }, secret, now)
  assert.deepEqual(at(3_600_000), { aheadMs: 3_600_000 })
  assert.deepEqual(at(-301_000), { aheadMs: -301_000 })
  assert.equal(at(3_600_000, 'another'), 'wrong')
})

test('the timestamp is part of what is signed', () => {
  const headers = { ...chatwoot(now), 'x-chatwoot-timestamp': String(now / 1000 + 1) }
  assert.equal(isSigned({ headers, rawBody }, secret, now), false)
})

test('no header, a wrong secret, another body and malformed headers are refused', () => {
  const good = `sha256=${hex(rawBody)}`
  const headers: Record<string, string | string[] | undefined>[] = [
    {},
    { 'x-service-signature': `sha256=${hex(rawBody, 'another')}` },
    { 'x-service-signature': hex(rawBody) },
    { 'x-service-signature': `sha1=${hex(rawBody)}` },
    { 'x-service-signature': good.slice(0, -1) },
    { 'x-service-signature': `${good}0` },
    { 'x-service-signature': [good, good] },
    { 'x-chatwoot-signature': chatwoot(now)['x-chatwoot-signature'] },
    { ...chatwoot(now), 'x-chatwoot-timestamp': '' },
    { ...chatwoot(now), 'x-chatwoot-timestamp': 'NaN' },
    chatwoot(now, 'another'),
  ]
  for (const each of headers) assert.equal(checkSignature({ headers: each, rawBody }, secret, now), 'wrong')
  const other = { headers: { 'x-service-signature': good }, rawBody: Buffer.from('{}') }
  assert.equal(isSigned(other, secret, now), false)
})

test('only the right signature is accepted, and no header makes the check throw', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), fc.string(), (service, signature, timestamp) => {
      const headers = {
        'x-service-signature': service,
        'x-chatwoot-signature': signature,
        'x-chatwoot-timestamp': timestamp,
      }
      return !isSigned({ headers, rawBody }, secret, now)
    }),
  )
})

test('without a secret there is nothing to check against', () => {
  assert.throws(() => checkSignature({ headers: {}, rawBody }, '', now), /without a secret/)
})

test('a callback without a well-formed signature is known before its body is read', () => {
  assert.ok(carriesSignature(chatwoot(now)))
  assert.ok(carriesSignature({ 'x-service-signature': `sha256=${'0'.repeat(64)}` }))
  for (const odd of [undefined, '', 'sha256=', hex(rawBody), `sha256=${'0'.repeat(63)}`, ['a', 'b']]) {
    assert.equal(carriesSignature({ 'x-service-signature': odd, 'x-chatwoot-signature': odd }), false)
  }
})

test('one right secret among several is enough, at any place', () => {
  const request = { headers: chatwoot(now), rawBody }
  for (const secrets of [[secret], [secret, 'b'], ['a', secret], ['a', secret, 'b']]) {
    assert.equal(checkSignatures(request, secrets, now), 'right')
  }
  assert.equal(checkSignatures(request, ['a', 'b'], now), 'wrong')
  assert.throws(() => checkSignatures(request, [], now), /without a secret/)
})

test('a right signature with a wrong time is told apart also among several secrets', () => {
  const late = now + 6 * 60_000
  const verdict = checkSignatures({ headers: chatwoot(now), rawBody }, ['a', secret, 'b'], late)
  assert.ok(typeof verdict === 'object' && verdict.aheadMs < 0, JSON.stringify(verdict))
})
