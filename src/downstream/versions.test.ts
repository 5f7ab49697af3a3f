import assert from 'node:assert/strict'
import { test } from 'node:test'
import { keepsSourceIds } from './versions.ts'

test('source ids are kept since 3.4; a version that cannot be read counts as older', () => {
  for (const version of ['3.4.0', '3.14.1', '4.0.0', '4.14.1', '10.0']) assert.equal(keepsSourceIds(version), true)
  for (const version of ['2.18.0', '3.0.0', '3.3.9', '', 'undefined', 'v4']) {
    assert.equal(keepsSourceIds(version), false, version)
  }
})
