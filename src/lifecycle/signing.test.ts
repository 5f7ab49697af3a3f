import assert from 'node:assert/strict'
import { createHmac, randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { Webhook } from 'standardwebhooks'
import { deliveryHeaders } from './signing.ts'

const body = '{"id":"e1","event":"paired"}'
const secret = randomBytes(24)

test('an independent implementation of Standard Webhooks accepts the signature, and nothing else', () => {
  const headers = deliveryHeaders({ id: 'e1', timestampMs: Date.now(), body }, secret)
  const verifier = new Webhook(secret.toString('base64'))
  assert.deepEqual(verifier.verify(body, headers), JSON.parse(body))
  assert.throws(() => verifier.verify(`${body} `, headers))
  assert.throws(() => verifier.verify(body, { ...headers, 'webhook-id': 'e2' }))
  assert.throws(() => new Webhook(randomBytes(24).toString('base64')).verify(body, headers))
})

test('our own header signs the body alone', () => {
  const headers = deliveryHeaders({ id: 'e1', timestampMs: 0, body }, Buffer.from('plain text'))
  const expected = createHmac('sha256', 'plain text').update(body).digest('hex')
  assert.equal(headers['x-service-signature'], `sha256=${expected}`)
})

test('without a secret nothing is signed', () => {
  const headers = deliveryHeaders({ id: 'e1', timestampMs: 1_700_000_000_999, body }, null)
  assert.deepEqual(headers, { 'webhook-id': 'e1', 'webhook-timestamp': '1700000000' })
})
