import assert from 'node:assert/strict'
import { test } from 'node:test'
import { changeOwnSettings } from './chosen-settings.ts'

test('a change keeps what it does not name, and null leaves nothing behind', () => {
  const own = { locale: 'pt', sign_messages: false, ignore_jids: [] }
  assert.deepEqual(changeOwnSettings(own, {}), own)
  assert.deepEqual(changeOwnSettings(own, { locale: null, quote_style: 'text', header_template: null }), {
    sign_messages: false,
    ignore_jids: [],
    quote_style: 'text',
  })
  assert.equal(own.locale, 'pt', 'the object of the record stays as it is')
})
