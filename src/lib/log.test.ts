import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RecordedLog } from '../../test/harness/logs.ts'

test('an error is logged with its own fields, not with what a library attached to it', () => {
  const recorded = new RecordedLog()
  const cause = Object.assign(new Error('inner'), { data: { attrs: 'canary' } })
  recorded.log.error(
    { err: Object.assign(new Error('outer', { cause }), { code: 'E_TEST', client: 'canary' }) },
    'failed',
  )
  const [line] = recorded.withMessage('failed')
  const { type, message, code, cause: logged } = line?.['err'] as Record<string, unknown>
  assert.deepEqual([type, message, code], ['Error', 'outer', 'E_TEST'])
  assert.equal((logged as { message: string }).message, 'inner')
  assert.ok(!recorded.lines.join('').includes('canary'))
})

test('fields that carry secrets are blanked at any depth', () => {
  const recorded = new RecordedLog()
  recorded.log.info(
    { token: 'canary', settings: { downstream_api_token: 'canary', deep: { password: 'canary' } } },
    'seen',
  )
  assert.ok(!recorded.lines.join('').includes('canary'), recorded.lines.join(''))
})

test('fields without secrets are logged as they are; lists and bindings are blanked, too', () => {
  const recorded = new RecordedLog()
  const settings = { list: [{ token: 'canary' }], at: new Date(0), count: 1 }
  recorded.log.child({ secret: 'canary' }).info(settings, 'seen')
  const [line] = recorded.withMessage('seen')
  const { list, at, count, secret } = line ?? {}
  const blanked = '[redacted]'
  assert.deepEqual([list, at, count, secret], [[{ token: blanked }], new Date(0).toISOString(), 1, blanked])
  assert.deepEqual(settings.list, [{ token: 'canary' }])
})
