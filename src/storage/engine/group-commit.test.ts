import assert from 'node:assert/strict'
import { constants } from 'node:sqlite'
import { test } from 'node:test'
import { SecretBox } from '../../lib/secret-box.ts'
import { commitTogether } from './group-commit.ts'
import { SqliteConnection } from './sqlite-connection.ts'

const insert = [{ sql: 'INSERT INTO t VALUES (1)', parameters: [] }]

function connectionRefusing(...refused: string[]): SqliteConnection {
  const connection = new SqliteConnection(':memory:', false, new SecretBox([]))
  connection.raw.exec('CREATE TABLE t (id INTEGER)')
  connection.raw.setAuthorizer((action, operation) =>
    action === constants.SQLITE_TRANSACTION && refused.includes(operation ?? '')
      ? constants.SQLITE_DENY
      : constants.SQLITE_OK,
  )
  return connection
}

test('a commit that fails refuses the whole batch, and the connection goes on', () => {
  const connection = connectionRefusing('COMMIT')
  const answers = commitTogether(connection, [insert, insert])
  assert.deepEqual(
    answers.map((answer) => 'failed' in answer),
    [true, true],
  )
  connection.raw.setAuthorizer(null)
  assert.deepEqual(commitTogether(connection, [insert]), [[1]])
})

test('a transaction that cannot be ended is reported together with the first error', () => {
  const connection = connectionRefusing('COMMIT', 'ROLLBACK')
  assert.throws(
    () => commitTogether(connection, [insert]),
    (error: Error) => /cannot be ended/.test(error.message) && /authorized/.test((error.cause as Error).message),
  )
})
