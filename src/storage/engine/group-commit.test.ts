import assert from 'node:assert/strict'
import { constants } from 'node:sqlite'
import { test } from 'node:test'
import { SecretBox } from '../../lib/secret-box.ts'
import { commitTogether } from './group-commit.ts'
import { SqliteConnection } from './sqlite-connection.ts'

const insert = [{ sql: 'INSERT INTO t VALUES (1)', parameters: [] }]
const insertOf = (id: number) => ({ sql: 'INSERT INTO t VALUES (?)', parameters: [id] })
const storedIn = ({ raw }: SqliteConnection) =>
  raw
    .prepare('SELECT id FROM t ORDER BY rowid')
    .all()
    .map(({ id }) => id)

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

test('a batch runs once when its transaction cannot begin or end', () => {
  for (const refused of ['BEGIN', 'COMMIT']) {
    const begun: string[] = []
    const connection = connectionRefusing(refused)
    const control = connection.control.bind(connection)
    connection.control = (sql) => {
      begun.push(sql)
      control(sql)
    }
    commitTogether(connection, [insert, insert])
    assert.equal(begun.filter((sql) => sql.startsWith('BEGIN')).length, 1, refused)
  }
})

test('a transaction that cannot be ended is reported together with the first error', () => {
  const connection = connectionRefusing('COMMIT', 'ROLLBACK')
  assert.throws(
    () => commitTogether(connection, [insert]),
    (error: Error) => /cannot be ended/.test(error.message) && /authorized/.test((error.cause as Error).message),
  )
})

test('an operation that fails in its second step leaves nothing of its first, in a batch and alone', () => {
  const failures = [
    { sql: 'INSERT INTO missing VALUES (1)', parameters: [] },
    { sql: 'DELETE FROM t WHERE id = 99', parameters: [], expect: 1 },
  ]
  for (const fails of failures) {
    const connection = connectionRefusing()
    const batch = [[insertOf(1)], [insertOf(2), fails], [insertOf(3), insertOf(4)], [insertOf(5)]]
    const answers = commitTogether(connection, batch)
    assert.deepEqual(
      answers.map((answer) => 'failed' in answer),
      [false, true, false, false],
    )
    assert.deepEqual(storedIn(connection), [1, 3, 4, 5])
    const [alone] = commitTogether(connection, [[insertOf(6), fails]])
    assert.ok(alone && 'failed' in alone)
    assert.deepEqual(storedIn(connection), [1, 3, 4, 5])
  }
})

test('a single statement that touches an unexpected number of rows is undone in a batch', () => {
  const connection = connectionRefusing()
  const answers = commitTogether(connection, [[{ ...insertOf(1), expect: 2 }], [insertOf(2)]])
  assert.deepEqual(
    answers.map((answer) => 'failed' in answer),
    [true, false],
  )
  assert.deepEqual(storedIn(connection), [2])
})

test('a failure that ends the transaction refuses the whole batch, and nothing of it is stored', () => {
  const connection = connectionRefusing()
  connection.raw.exec('CREATE UNIQUE INDEX one ON t (id)')
  const ends = { sql: 'INSERT OR ROLLBACK INTO t VALUES (1)', parameters: [] }
  const answers = commitTogether(connection, [[insertOf(1)], [ends], [insertOf(2)]])
  assert.deepEqual(
    answers.map((answer) => 'failed' in answer),
    [true, true, true],
  )
  assert.deepEqual(storedIn(connection), [])
})
