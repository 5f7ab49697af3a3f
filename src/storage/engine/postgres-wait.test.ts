import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { RecordedLog } from '../../../test/harness/logs.ts'
import { ManualClock } from '../../../test/harness/manual-clock.ts'
import { waitUntil } from '../../../test/harness/wait-until.ts'
import { StartError } from '../../lib/start-error.ts'
import { whenReachable } from './postgres-wait.ts'

const url = 'postgres://ana:secret@db.internal/causeway'

function failure(code: string, syscall = 'connect'): Error {
  return Object.assign(new Error(`${syscall} ${code}`), { code, syscall })
}

function refusal(code: string, message: string): pg.DatabaseError {
  return Object.assign(new pg.DatabaseError(message, message.length, 'error'), { code })
}

class Attempts {
  readonly clock = new ManualClock()
  readonly logs = new RecordedLog()
  readonly stop = new AbortController()
  made = 0
  outcome: unknown

  /** The attempts fail in this order; the last failure stays. */
  constructor(...failures: readonly (Error | undefined)[]) {
    const options = { url, clock: this.clock, log: this.logs.log, signal: this.stop.signal }
    const work = (): Promise<string> => {
      const cause = failures[Math.min(this.made++, failures.length - 1)]
      return cause === undefined ? Promise.resolve('open') : Promise.reject(cause)
    }
    whenReachable(options, work).then(
      (value) => (this.outcome = value),
      (error: unknown) => (this.outcome = error),
    )
  }

  async settled(): Promise<string> {
    await waitUntil('the attempts are over', () => this.outcome !== undefined)
    if (this.outcome instanceof StartError) return this.outcome.message
    return String(this.outcome)
  }
}

test('a server that does not answer is waited for, and the log says so once', async () => {
  const attempts = new Attempts(failure('ECONNREFUSED'), failure('ENOTFOUND', 'getaddrinfo'), undefined)
  await attempts.clock.advance(2000)
  assert.equal(await attempts.settled(), 'open')
  assert.equal(attempts.made, 3)
  const [line, ...more] = attempts.logs.withMessage('waiting for the database')
  assert.deepEqual([line?.['server'], line?.['reason'], more], ['db.internal:5432', 'ECONNREFUSED', []])
  assert.ok(!attempts.logs.lines.join().includes('secret'))
})

test('the wait is over after 60 s', async () => {
  const attempts = new Attempts(failure('ECONNREFUSED'))
  await attempts.clock.advance(59_000)
  assert.equal(attempts.outcome, undefined)
  await attempts.clock.advance(1000)
  const cure = 'the service waited for 60 s: start it, or correct the address'
  const sentence = `DATABASE_URL: no PostgreSQL answers at db.internal:5432 (ECONNREFUSED), ${cure}`
  assert.equal(await attempts.settled(), sentence)
})

test('the signal ends the wait', async () => {
  const attempts = new Attempts(failure('ECONNREFUSED'))
  await attempts.clock.advance(500)
  attempts.stop.abort()
  assert.match(await attempts.settled(), /no PostgreSQL answers/)
})

for (const passing of [
  refusal('57P03', 'the database system is starting up'),
  refusal('53300', 'sorry, too many clients already'),
  failure('ENOENT'),
  new Error('timeout expired'),
  new Error('Connection terminated unexpectedly'),
]) {
  test(`"${passing.message}" is waited for`, async () => {
    const attempts = new Attempts(passing, undefined)
    await attempts.clock.advance(1000)
    assert.equal(await attempts.settled(), 'open')
  })
}

const server = 'DATABASE_URL: the PostgreSQL at db.internal:5432'
const refusals: [cause: Error, sentence: string][] = [
  [
    refusal('28000', 'no pg_hba.conf entry'),
    `${server} does not let user ana in: create that role, or allow it in pg_hba.conf (no pg_hba.conf entry)`,
  ],
  [
    refusal('25006', 'read-only transaction'),
    `${server} is read-only: name the primary server (read-only transaction)`,
  ],
  [new Error('The server does not support SSL connections'), `${server} has no TLS: remove sslmode`],
  [
    new Error('SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string'),
    `${server} asks for the password of user ana: add it`,
  ],
  [
    failure('SELF_SIGNED_CERT_IN_CHAIN'),
    'DATABASE_URL: the certificate of db.internal:5432 is not trusted (SELF_SIGNED_CERT_IN_CHAIN): ' +
      'name its authority with sslrootcert=<file>',
  ],
  [
    Object.assign(failure('ENOENT', 'open'), { path: '/ca.pem' }),
    'DATABASE_URL: the file /ca.pem cannot be read (ENOENT): correct its path',
  ],
  [
    new URIError('URI malformed'),
    'DATABASE_URL: a % is not followed by two hexadecimal digits: write a literal % as %25',
  ],
]

for (const [cause, sentence] of refusals) {
  test(`"${cause.message}" ends the start at once`, async () => {
    const attempts = new Attempts(cause)
    assert.equal(await attempts.settled(), sentence)
    assert.equal(attempts.made, 1)
  })
}

test('an unknown failure stays as it is', async () => {
  const cause = refusal('42601', 'syntax error')
  const attempts = new Attempts(cause)
  await attempts.settled()
  assert.equal(attempts.outcome, cause)
})
