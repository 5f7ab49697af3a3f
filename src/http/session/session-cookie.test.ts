import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { clearSessionCookie, readSessionCookies, writeSessionCookie } from './session-cookie.ts'

test('the cookie is found among others, in any spacing', () => {
  assert.deepEqual(readSessionCookies('causeway_session=a.b'), ['a.b'])
  assert.deepEqual(readSessionCookies('x=1;causeway_session=a.b ;  y=2'), ['a.b'])
  assert.deepEqual(readSessionCookies('causeway_session=a=b'), ['a=b'])
  assert.deepEqual(readSessionCookies('causeway_session='), [''])
})

test('cookies of other names are not taken for it', () => {
  for (const header of [
    ...[
      undefined,
      '',
      ';',
      '=',
      'causeway_session',
      'Causeway_session=a',
      'xcauseway_session=a',
      'causeway_sessionx=a',
    ],
    ...['other=causeway_session=a', '__Secure-causeway_session=a', 'causeway_session2=a'],
  ]) {
    assert.deepEqual(
      readSessionCookies(header).filter((value) => value !== ''),
      [],
      header,
    )
  }
})

test('all cookies of the name are returned, so that a second one can be refused', () => {
  assert.deepEqual(readSessionCookies('causeway_session=a; b=c; causeway_session=d'), ['a', 'd'])
})

test('any header is read without an error', () => {
  const piece = fc.oneof(fc.string(), fc.constantFrom('causeway_session', '=', ';', ' ', 'a'))
  fc.assert(
    fc.property(fc.array(piece), (pieces) => {
      for (const value of readSessionCookies(pieces.join(''))) assert.doesNotMatch(value, /;/)
    }),
  )
})

test('the browser keeps the cookie from scripts and other sites, and over https from plain connections', () => {
  const plain = 'causeway_session=v; HttpOnly; SameSite=Strict; Path=/api; Max-Age=43200'
  assert.equal(writeSessionCookie('v', false), plain)
  assert.equal(writeSessionCookie('v', true), `${plain}; Secure`)
  assert.equal(clearSessionCookie(false), 'causeway_session=; HttpOnly; SameSite=Strict; Path=/api; Max-Age=0')
})
