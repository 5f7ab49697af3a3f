import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compareVersions, findRevision, formatVersion, parseVersion } from './version-numbers.ts'

test('the revision is found in JSON, and in JSON inside a string', () => {
  assert.equal(findRevision('{"client_revision":1044017588}'), 1_044_017_588)
  assert.equal(findRevision(String.raw`JSON.parse("{\"client_revision\": 1044017588,\"x\":1}")`), 1_044_017_588)
  assert.equal(findRevision('"client_revision":null, "client_revision" : 7}'), 7)
})

test('a page without a usable revision names none', () => {
  const pages = [
    '',
    'client_revision',
    '"client_revision":"7"',
    '"client_revision":-7',
    '"client_revision":99999999999',
  ]
  for (const page of [...pages, '"client_revision":4294967296', '<html>no</html>']) {
    assert.equal(findRevision(page), undefined, page)
  }
})

test('a version is written with dots and read again', () => {
  assert.equal(formatVersion([2, 3000, 7]), '2.3000.7')
  assert.deepEqual(parseVersion('2.3000.7'), [2, 3000, 7])
  for (const text of ['', '2.3000', '2.3000.x', '2.3000.4294967296', '2.3000.7.1']) {
    assert.equal(parseVersion(text), undefined, text)
  }
})

test('versions are compared by their numbers', () => {
  assert.ok(compareVersions([2, 3000, 10], [2, 3000, 9]) > 0)
  assert.ok(compareVersions([2, 2999, 10], [2, 3000, 9]) < 0)
  assert.ok(compareVersions([3, 0, 0], [2, 3000, 9]) > 0)
  assert.equal(compareVersions([2, 3000, 9], [2, 3000, 9]), 0)
})
