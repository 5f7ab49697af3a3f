import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EgressError } from '../../lib/egress/errors.ts'
import { closingOf, explained, unansweredClosing } from './close-causes.ts'
import { explainUnanswered } from './unreachable.ts'

/** As the library reports an error of the WebSocket. */
const failure = (code: string) =>
  Object.assign(new Error(`WebSocket Error (${code})`), { data: { code }, output: { statusCode: 408 } })
const direct = { isOfferUsedUp: false, proxyHost: undefined, isElsewhere: false }
const clock = { now: () => 0 }

test('the code of an error decides the cause, the sentence and the cure', () => {
  for (const [code, cause, sentence, cure] of [
    ['ENOTFOUND', 'dns', /host name was not found \(ENOTFOUND\)/, /DNS/],
    ['EAI_AGAIN', 'dns', /host name/, /DNS/],
    ['ECONNREFUSED', 'refused', /refused \(ECONNREFUSED\)/, /firewall/],
    ['ENETUNREACH', 'no_route', /no way to the server/, /internet connection/],
    ['ETIMEDOUT', 'timeout', /did not answer in time/, /web\.whatsapp\.com, port 443/],
    ['CERT_HAS_EXPIRED', 'tls', /TLS connection failed/, /clock of this machine/],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'tls', /TLS/, /without opening them/],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'tls', /TLS/, /clock/],
    ['ERR_SSL_WRONG_VERSION_NUMBER', 'tls', /TLS/, /clock/],
    ['ECONNRESET', 'broken', /connection broke \(ECONNRESET\)/, /between this service and WhatsApp/],
  ] as const) {
    const { cause: end, reason, unreachable } = explained(closingOf(failure(code), clock), direct)
    assert.deepEqual([end, unreachable?.cause], ['transient', cause], code)
    assert.match(reason, sentence)
    assert.match(unreachable?.cure ?? '', cure)
  }
})

test('another server, a server without a certificate, and a network that does not work have causes of their own', () => {
  const causeOf = (error: Error | undefined) => explained(closingOf(error, clock), direct).unreachable?.cause
  assert.equal(causeOf(new Error('status 404')), 'other_server')
  assert.equal(causeOf(new Error('noise certificate signature invalid')), 'not_genuine')
  assert.equal(causeOf(Object.assign(new Error('Connection Failure'), { output: { statusCode: 503 } })), 'away')
  assert.equal(causeOf(undefined), 'broken')
})

test('with a proxy the cure is about the proxy, unless the cause lies behind it', () => {
  const proxied = { ...direct, proxyHost: 'proxy:1' }
  for (const error of [failure('ENOTFOUND'), failure('ECONNREFUSED'), new Error('status 407'), undefined]) {
    const { reason, unreachable } = explained(closingOf(error, clock), proxied)
    assert.equal(unreachable?.cause, 'proxy')
    assert.match(unreachable.cure, /SERVICE_NETWORK_PROXY, or network_proxy/)
    assert.match(reason, /through the proxy proxy:1$/)
  }
  assert.equal(explained(closingOf(failure('CERT_HAS_EXPIRED'), clock), proxied).unreachable?.cause, 'tls')
  assert.equal(unansweredClosing(20, proxied).unreachable?.cause, 'proxy')
})

test('with another server in the settings the cure names the settings', () => {
  const elsewhere = { ...direct, isElsewhere: true }
  for (const code of ['ENOTFOUND', 'ECONNREFUSED', 'CERT_HAS_EXPIRED']) {
    assert.match(explained(closingOf(failure(code), clock), elsewhere).unreachable?.cure ?? '', /SERVICE_NETWORK_URL/)
  }
  assert.match(unansweredClosing(20, elsewhere).unreachable?.cure ?? '', /SERVICE_NETWORK_URL/)
})

test('a request without an answer has the cure of a connection that failed for the same cause', () => {
  const way = { proxyHost: undefined, isElsewhere: false }
  const failed = (code: string) => {
    const cause = Object.assign(new Error('from Node'), { code })
    return new EgressError('unreachable', 'no connection to the host', { sent: 'nothing', cause })
  }
  for (const code of ['ENOTFOUND', 'ECONNREFUSED', 'ENETUNREACH', 'CERT_HAS_EXPIRED']) {
    const { unreachable } = explained(closingOf(failure(code), clock), direct)
    const { reason, cure } = explainUnanswered(failed(code), way)
    assert.deepEqual([reason, cure], ['no connection to the host', unreachable?.cure], code)
  }
  assert.match(explainUnanswered(new EgressError('timeout', 'late', { sent: 'all' }), way).cure, /firewall/)
  assert.match(explainUnanswered(failed('ENOTFOUND'), { ...way, proxyHost: 'proxy:1' }).cure, /proxy runs/)
  assert.match(explainUnanswered('no error', way).cure, /between this service and WhatsApp/)
})
