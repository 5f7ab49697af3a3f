import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RecordedLog } from '../../test/harness/logs.ts'
import type { LoggedWarning } from './log-tap.ts'
import { listenToWarnings, recentWarnings } from './log.ts'

function setUp() {
  const recorded = new RecordedLog()
  const heard: LoggedWarning[] = []
  const stop = listenToWarnings(recorded.log, (warning) => heard.push(warning))
  return { recorded, log: recorded.log, heard, stop }
}

test('a listener hears warnings and errors of the log and of its children, and nothing below', () => {
  const { log, heard } = setUp()
  log.info('unheard')
  log.warn({ instance: 'a', destination: 'desk' }, 'held')
  log.child({ request_id: 'r' }).error({ err: new Error('broken') }, 'failed')
  log.fatal('over')
  assert.deepEqual(
    heard.map(({ level, message, instance }) => [level, message, instance]),
    [
      ['warn', 'held', 'a'],
      ['error', 'failed', null],
      ['error', 'over', null],
    ],
  )
  assert.deepEqual(heard[0]?.details, { destination: 'desk' })
  assert.equal(heard[1]?.details['request_id'], 'r')
  assert.ok(!Number.isNaN(Date.parse(heard[0].ts)))
})

test('a listener sees secrets blanked, as the log does', () => {
  const { log, heard } = setUp()
  log.warn({ token: 'canary' }, 'seen')
  assert.deepEqual(heard[0]?.details, { token: '[redacted]' })
})

test('a listener that fails or that logs a warning harms neither the log nor the other listeners', () => {
  const { log, recorded, heard } = setUp()
  listenToWarnings(log, () => {
    log.warn('from the listener')
    throw new Error('the listener is broken')
  })
  const last: LoggedWarning[] = []
  listenToWarnings(log, (warning) => last.push(warning))
  log.warn('first')
  log.warn('second')
  const messages = (list: readonly LoggedWarning[]) => list.map(({ message }) => message)
  assert.deepEqual(
    [messages(heard), messages(last)],
    [
      ['first', 'second'],
      ['first', 'second'],
    ],
  )
  assert.equal(recorded.withMessage('from the listener').length, 2)
})

test('a listener that stopped hears nothing more', () => {
  const { log, heard, stop } = setUp()
  stop()
  log.warn('late')
  assert.deepEqual(heard, [])
})

test('the last 200 warnings are kept, newest first, also those from before the first listener', () => {
  const { log } = new RecordedLog()
  for (let n = 1; n <= 205; n++) log.warn({ n, instance: 'a' }, 'held')
  log.info('unheard')
  const kept = recentWarnings(log)
  assert.equal(kept.length, 200)
  assert.deepEqual([kept[0]?.details, kept.at(-1)?.details], [{ n: 205 }, { n: 6 }])
  assert.deepEqual([kept[0]?.instance, kept[0]?.level], ['a', 'warn'])
})

test('a line that is very long is kept without its details', () => {
  const { log } = new RecordedLog()
  log.error({ instance: 'a', text: 'x'.repeat(100_000) }, 'failed')
  const [kept] = recentWarnings(log)
  assert.deepEqual([kept?.message, kept?.instance, kept?.level], ['failed', 'a', 'error'])
  assert.ok(JSON.stringify(kept).length < 1000)
})
