import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ManualClock } from '../../test/harness/manual-clock.ts'
import { hashOf, NodeSignature, signatureHeaders } from './signature.ts'

const secret = 'a secret of the nodes, 32 bytes long'
const request = { target: 'node-1', method: 'POST', path: '/internal/look', head: 'aGVhZA', bodyHash: hashOf('{}') }

function bed() {
  const clock = new ManualClock()
  const signature = new NodeSignature(secret, clock)
  const headers = signature.sign(request)
  const judge = (
    changed: Partial<{ self: string; method: string; path: string; headers: Record<string, string> }> = {},
  ) => {
    const { self = 'node-1', method = 'POST', path = '/internal/look' } = changed
    return signature.judge(self, method, path, { ...headers, ...changed.headers }).is
  }
  return { clock, signature, headers, judge }
}

test('a signed request is genuine', () => {
  const { signature, headers } = bed()
  assert.deepEqual(signature.judge('node-1', 'POST', '/internal/look', headers), { is: 'genuine', signed: request })
})

describe('a change of any part makes it a forgery', () => {
  const { judge } = bed()
  const changes: Record<string, Parameters<typeof judge>[0]> = {
    method: { method: 'PUT' },
    path: { path: '/internal/drain' },
    'the query of the path': { path: '/internal/look?' },
    head: { headers: { [signatureHeaders.head]: 'aGVhZB' } },
    'an empty head': { headers: { [signatureHeaders.head]: '' } },
    'the hash of the body': { headers: { [signatureHeaders.bodyHash]: hashOf('{ }') } },
    time: { headers: { [signatureHeaders.time]: '1768478400001' } },
    target: { self: 'node-2', headers: { [signatureHeaders.target]: 'node-2' } },
    'the signature itself': { headers: { [signatureHeaders.signature]: '00'.repeat(32) } },
    'a shorter signature': { headers: { [signatureHeaders.signature]: '00' } },
    'a signature that is no hexadecimal number': { headers: { [signatureHeaders.signature]: 'ü'.repeat(64) } },
  }
  for (const [part, change] of Object.entries(changes)) {
    test(part, () => {
      assert.equal(judge(change), 'forged')
    })
  }

  test('the secret', () => {
    const { headers, clock } = bed()
    const other = new NodeSignature(secret.toUpperCase(), clock)
    assert.equal(other.judge('node-1', 'POST', '/internal/look', headers).is, 'forged')
  })
})

test('a request for another node is not for this one, also when it is genuine there', () => {
  assert.equal(bed().judge({ self: 'node-2' }), 'other_node')
})

test('a request without one of the headers is not signed', () => {
  const { signature, headers } = bed()
  for (const name of ['target', 'time', 'bodyHash', 'signature'] as const) {
    const rest = { ...headers, [signatureHeaders[name]]: undefined }
    assert.equal(signature.judge('node-1', 'POST', '/internal/look', rest).is, 'unsigned')
  }
})

test('clocks may differ by five minutes in either direction, not by six', () => {
  for (const [minutes, expected] of [
    [5, 'genuine'],
    [-5, 'genuine'],
    [6, 'stale'],
    [-6, 'stale'],
  ] as const) {
    const { clock, judge } = bed()
    clock.set(minutes * 60_000)
    assert.equal(judge(), expected, `${minutes} minutes`)
  }
})

test('a time that is no number is never fresh', () => {
  const { clock } = bed()
  const odd = new NodeSignature(secret, { now: () => NaN })
  const headers = odd.sign(request)
  const judge = new NodeSignature(secret, clock)
  assert.equal(judge.judge('node-1', 'POST', '/internal/look', headers).is, 'stale')
})
