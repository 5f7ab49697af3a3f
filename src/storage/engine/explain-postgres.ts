// Explains why PostgreSQL cannot be used: one sentence with the setting and the cure.

import pg from 'pg'
import { StartError } from '../../lib/start-error.ts'

type Target = { server: string; user: string; database: string }

/** By the code of PostgreSQL: https://www.postgresql.org/docs/current/errcodes-appendix.html */
const refusals: Record<string, (target: Target) => string> = {
  '28P01': ({ user }) => `refuses the password of ${user}: correct user and password; write special characters as %XX`,
  '28000': ({ user }) => `does not let ${user} in: create that role, or allow it in pg_hba.conf`,
  '3D000': ({ database }) => `has no database ${database}: create it, or correct the name`,
  '42501': mayNotCreate,
  '3F000': mayNotCreate,
  '25006': () => 'is read-only: name the primary server',
  '08P01': () => 'refuses the connection: correct the address, user, password and database',
}

/** The codes of a server that starts, ends or is full. */
const passingStates = new Set(['57P01', '57P02', '57P03', '53300'])
const networkCodes = new Set([
  ...['ECONNREFUSED', 'ECONNRESET', 'ENOTFOUND', 'EAI_AGAIN', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH', 'EPIPE'],
])
/** What the client says without a code. */
const passingMessages = /^(timeout expired|Connection terminated)/
const certificateCodes = /^(DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|CERT_|ERR_TLS_CERT_)/

/** Whether the server may answer a little later, for example because it starts together with the service. */
export function mayAnswerLater(cause: unknown): boolean {
  if (cause instanceof pg.DatabaseError) return passingStates.has(cause.code ?? '')
  if (!(cause instanceof Error)) return false
  const { code = '', syscall, message } = cause as NodeJS.ErrnoException
  // A server that does not run has no socket.
  const isSocketMissing = code === 'ENOENT' && syscall === 'connect'
  return isSocketMissing || networkCodes.has(code) || passingMessages.test(message)
}

/** For a server that did not answer all the time. */
export function explainSilence(url: string, cause: unknown, waitedMs: number): StartError {
  const { server } = targetOf(url)
  const waited = `the service waited for ${Math.round(waitedMs / 1000)} s`
  const sentence = `no PostgreSQL answers at ${server} (${reasonOf(cause)}), ${waited}: start it, or correct the address`
  return new StartError(`DATABASE_URL: ${sentence}`, { cause })
}

/** For a server that refuses us, or an address that the client cannot use. Undefined when the failure has no sentence. */
export function explainRefusal(url: string, cause: unknown): StartError | undefined {
  const sentence = cause instanceof pg.DatabaseError ? explainState(url, cause) : explainClient(url, cause)
  return sentence === undefined ? undefined : new StartError(`DATABASE_URL: ${sentence}`, { cause })
}

/** In a few words, for the log. */
export function reasonOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause)
  return cause instanceof pg.DatabaseError ? cause.message : ((cause as NodeJS.ErrnoException).code ?? cause.message)
}

export function serverOf(url: string): string {
  return targetOf(url).server
}

function mayNotCreate({ user, database }: Target): string {
  return `does not let ${user} create tables in ${database}: make that role the owner of the database`
}

function explainState(url: string, { code = '', message }: pg.DatabaseError): string | undefined {
  const target = targetOf(url)
  const refusal = refusals[code]?.(target)
  return refusal === undefined ? undefined : `the PostgreSQL at ${target.server} ${refusal} (${message})`
}

function explainClient(url: string, cause: unknown): string | undefined {
  if (cause instanceof URIError) return 'a % is not followed by two hexadecimal digits: write a literal % as %25'
  if (!(cause instanceof Error)) return undefined
  const { server, user } = targetOf(url)
  const { code = '', syscall, path } = cause as NodeJS.ErrnoException
  if (syscall === 'open') return `the file ${path ?? ''} cannot be read (${code}): correct its path`
  if (cause.message.includes('does not support SSL')) return `the PostgreSQL at ${server} has no TLS: remove sslmode`
  if (cause.message.includes('password must be a string')) {
    return `the PostgreSQL at ${server} asks for the password of ${user}: add it`
  }
  if (!certificateCodes.test(code)) return undefined
  return `the certificate of ${server} is not trusted (${code}): name its authority with sslrootcert=<file>`
}

/** Without the password. */
function targetOf(url: string): Target {
  const { hostname, port, username, pathname, searchParams } = new URL(url)
  const host = searchParams.get('host') ?? (hostname || 'localhost')
  const user = searchParams.get('user') ?? username
  return {
    server: host.startsWith('/') ? host : `${host}:${searchParams.get('port') ?? (port || '5432')}`,
    user: user === '' ? 'this user' : `user ${user}`,
    database: pathname.length > 1 ? pathname.slice(1) : 'of that name',
  }
}
