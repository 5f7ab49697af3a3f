// What a message shows of its callback, for every failure that was recorded from a real Chatwoot.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { callbackFailureOf } from '../../src/downstream/callback-failure.ts'
import { readRecordings } from '../sim-helpdesk/harness/recordings.ts'

type Shown = { status: string; external_error?: string }

const filtered = "Hostname '127.0.0.1' has no public ip addresses"
const failed = (error: string | null, isToCustomer = false) =>
  callbackFailureOf({ isFailed: true, isToCustomer, error })

const recorded = readRecordings('callback-failures').flatMap(({ what, incoming, outgoing }) =>
  what.startsWith('listener answers: ') ? [{ what, incoming: incoming as Shown, outgoing: outgoing as Shown }] : [],
)
/** The service gives these answers too, to messages that it cannot send. */
const own = /^(?:400|418|422|429|500|503) /

test('a message of a customer shows every failure of its callback', () => {
  assert.ok(recorded.length > 20)
  for (const { what, incoming } of recorded) {
    const isFailed = incoming.status === 'failed'
    const failure = callbackFailureOf({ isFailed, isToCustomer: false, error: incoming.external_error ?? null })
    assert.equal(failure?.reason, incoming.external_error, what)
  }
  assert.equal(failed(null)?.reason, 'Chatwoot gives no reason')
})

test('a message to a customer shows only failures that are not an answer of the service', () => {
  for (const { what, outgoing } of recorded) {
    const error = outgoing.external_error ?? null
    const failure = callbackFailureOf({ isFailed: outgoing.status === 'failed', isToCustomer: true, error })
    assert.equal(failure !== undefined, error !== null && !own.test(error), what)
  }
  assert.ok(failed(filtered, true))
  for (const reason of ['not delivered within 5 minutes', 'the contact has no phone number', '']) {
    assert.equal(failed(reason, true), undefined)
  }
})

test('the advice names what an operator must set or check', () => {
  assert.match(failed(filtered)?.advice ?? '', /SAFE_FETCH_ALLOW_PRIVATE_NETWORK=true/)
  assert.match(failed('401 Unauthorized')?.advice ?? '', /callbacks_refused.*clocks_differ/)
  assert.match(failed('404 Not Found')?.advice ?? '', /\/api\/instances\/<name>\/webhook/)
  assert.match(failed('503 Service Unavailable')?.advice ?? '', /log/)
  assert.match(failed('bad URI (is not URI?): "not a url"')?.advice ?? '', /SERVICE_PUBLIC_URL.*\/inbox/)
})

test('the reason is one short line without the credentials of the webhook URL', () => {
  const secret = 'bad URI (is not URI?): "https://user:pa55@bridge example/hook?token=t0ken"'
  assert.equal(failed(secret)?.reason, 'bad URI (is not URI?): "https://bridge example/hook"')
  assert.equal(failed(`a\nb\u0000${'x'.repeat(10_000)}`)?.reason.length, 200)
  assert.doesNotMatch(failed('Got 10 redirects fetching https://b.example/hook?token=t0ken')?.reason ?? '', /t0ken/)
})
