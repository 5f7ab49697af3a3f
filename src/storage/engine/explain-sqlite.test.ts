import assert from 'node:assert/strict'
import { test } from 'node:test'
import { StartError } from '../../lib/start-error.ts'
import { explainSqliteFailure } from './explain-sqlite.ts'

const path = '/data/service.db'

function system(code: string, syscall: string, place?: string): Error {
  return Object.assign(new Error(code), { code, syscall, ...(place !== undefined && { path: place }) })
}

function result(errcode: number): Error {
  return Object.assign(new Error('failed'), { errcode })
}

const sentences: [what: string, cause: Error, sentence: RegExp][] = [
  ['a read-only file system', system('EROFS', 'mkdir', '/data'), /\/data is on a read-only file system: mount it/],
  ['a full disk', system('ENOSPC', 'open', path), /the disk is full: free some space$/],
  ['a full quota', system('EDQUOT', 'open', path), /the disk is full: free some space$/],
  ['a file of another user', system('EPERM', 'chmod', path), /belongs to another user: make user \S+ its owner$/],
  ['a forbidden directory', system('EPERM', 'mkdir', '/data'), /user \S+ may not write \/data: give that user/],
  [
    'an odd failure of the system',
    system('ELOOP', 'open', path),
    /service\.db cannot be opened \(ELOOP\): name another/,
  ],
  ['a locked database', result(5), /another process keeps the database locked: end that process$/],
  ['a locked table', result(262), /another process keeps the database locked: end that process$/],
  [
    'a read-only directory',
    result(1544),
    /may not write \/data, \/data\/service\.db-wal or \/data\/service\.db-shm: give/,
  ],
  ['a failing disk', result(266), /cannot read or write the file: check the disk/],
  ['a damaged database', result(11), /the database is damaged: restore a backup$/],
  ['a full disk, as SQLite notices it', result(13), /the disk is full: free some space$/],
]

for (const [what, cause, sentence] of sentences) {
  test(`${what} has a sentence that names the setting`, () => {
    const explained = explainSqliteFailure(path, cause)
    assert.ok(explained instanceof StartError)
    assert.match(explained.message, /^DATABASE_URL=file:\/data\/service\.db: /)
    assert.match(explained.message, sentence)
    assert.equal(explained.cause, cause)
  })
}

test('an error that is no failure of the file has no sentence', () => {
  for (const cause of [new TypeError('x is not a function'), result(1), 'a text']) {
    assert.equal(explainSqliteFailure(path, cause), undefined)
  }
})
