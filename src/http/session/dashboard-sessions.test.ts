import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { ManualClock } from '../../../test/harness/manual-clock.ts'
import { ApiToken } from './api-token.ts'
import { DashboardSessions } from './dashboard-sessions.ts'

const minutes = 60_000
const hours = 60 * minutes

function setUp(token = 'a token') {
  const clock = new ManualClock()
  const sessions = new DashboardSessions({ key: new ApiToken(token).sessionKey, clock })
  const session = sessions.start()
  return { clock, sessions, session, value: sessions.format(session) }
}

test('a session is read back from its value', () => {
  const { sessions, session, value } = setUp()
  assert.deepEqual(sessions.parse(value), session)
  assert.notEqual(sessions.start().id, session.id)
})

test('a session ends 12 hours after its last renewal', async () => {
  const { clock, sessions, value } = setUp()
  await clock.advance(12 * hours - 1)
  const found = sessions.parse(value)
  assert.ok(found)
  const renewed = sessions.renew(found)
  assert.ok(renewed)
  assert.equal(renewed.id, found.id)
  await clock.advance(1)
  assert.equal(sessions.parse(value), undefined)
  await clock.advance(12 * hours - 2)
  assert.ok(sessions.parse(sessions.format(renewed)))
  await clock.advance(1)
  assert.equal(sessions.parse(sessions.format(renewed)), undefined)
})

test('a session is renewed only when it is 15 minutes old', async () => {
  const { clock, sessions, session } = setUp()
  await clock.advance(15 * minutes - 1)
  assert.equal(sessions.renew(session), undefined)
  await clock.advance(1)
  assert.deepEqual(sessions.renew(session), { id: session.id, issuedAt: clock.now() })
})

test('a session from a time when the clock was ahead does not count', () => {
  const { clock, sessions, value } = setUp()
  clock.set(-5 * minutes)
  assert.ok(sessions.parse(value))
  clock.set(-1)
  assert.equal(sessions.parse(value), undefined)
})

test('a session that was ended does not count, and neither does a renewed cookie of it', async () => {
  const { clock, sessions, session, value } = setUp()
  const other = sessions.start()
  await clock.advance(20 * minutes)
  const renewed = sessions.renew(session)
  assert.ok(renewed)
  sessions.end(session)
  assert.equal(sessions.parse(value), undefined)
  assert.equal(sessions.parse(sessions.format(renewed)), undefined)
  assert.ok(sessions.parse(sessions.format(other)))
  await clock.advance(12 * hours - 1)
  assert.equal(sessions.parse(sessions.format(renewed)), undefined)
})

test('a session of another token does not count', () => {
  const { value } = setUp('another token')
  assert.equal(setUp().sessions.parse(value), undefined)
})

test('a value with any other character does not count', () => {
  const { sessions, value } = setUp()
  const changed = fc.tuple(fc.nat(value.length - 1), fc.string({ unit: 'binary-ascii', minLength: 1, maxLength: 1 }))
  fc.assert(
    fc.property(changed, ([at, character]) => {
      const other = value.slice(0, at) + character + value.slice(at + 1)
      assert.equal(sessions.parse(other) !== undefined, other === value)
    }),
  )
})

test('junk is no session, and gives no error', () => {
  const { sessions, value } = setUp()
  const [, issued = '', id = '', mark = ''] = value.split('.')
  const part = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('v1', 'v2', issued, id, mark, '', '0', '-1'))
  const dotted = fc.array(part, { maxLength: 6 }).map((parts) => parts.join('.'))
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: 'binary' }), dotted), (junk) => {
      assert.equal(sessions.parse(junk) !== undefined, junk === value)
    }),
  )
  for (const each of ['', value.toUpperCase(), `${value}=`, ` ${value}`, `${value}\n`, value.repeat(2)]) {
    assert.equal(sessions.parse(each), undefined, each)
  }
})

test('what watches a session hears once of its end: at its time, or when it is ended before', async () => {
  const { clock, sessions, session } = setUp()
  const heard: string[] = []
  const watch = (name: string, other = session) => sessions.watch(other, () => heard.push(name))
  watch('at its time')
  watch('stopped')()
  await clock.advance(12 * hours - 1)
  assert.deepEqual(heard, [])
  await clock.advance(1)
  assert.deepEqual(heard, ['at its time'])
  const next = sessions.start()
  const stop = watch('ended', next)
  watch('another', sessions.start())
  sessions.end(next)
  stop()
  assert.deepEqual(heard, ['at its time', 'ended'])
  await clock.advance(12 * hours)
  assert.deepEqual(heard, ['at its time', 'ended', 'another'])
})
