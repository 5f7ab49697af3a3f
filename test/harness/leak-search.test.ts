import assert from 'node:assert/strict'
import { test } from 'node:test'
import { leaksIn } from './leak-search.ts'

test('a secret is found in every spelling, wherever it stands in the encoded text', () => {
  const secrets = { token: 'p?ss/wörd 1&2' }
  for (const before of ['', 'a', 'ab', 'abc']) {
    const whole = `${before}${secrets.token}z`
    const bytes = Buffer.from(whole)
    for (const text of [
      whole,
      JSON.stringify(whole),
      encodeURIComponent(whole),
      bytes.toString('base64'),
      bytes.toString('base64url'),
      bytes.toString('hex'),
    ]) {
      assert.deepEqual(leaksIn(`x ${text} y`, secrets), ['token'], text)
    }
  }
  assert.deepEqual(leaksIn('p?ss/w', secrets), [])
})
