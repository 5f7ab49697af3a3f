// Opens connections only to addresses that the policy allows: it checks the addresses that the name resolved to.

import { lookup as systemLookup } from 'node:dns'
import { connect as connectTcp, isIP } from 'node:net'
import type { LookupFunction, Socket } from 'node:net'
import { createSecureContext, getCACertificates } from 'node:tls'
import type { SecureContext } from 'node:tls'
import { buildConnector } from 'undici'
import type { Clock } from '../clock.ts'
import type { Judge } from './policy.ts'

export type ConnectOptions = {
  clock: Clock
  judge: Judge
  /** Resolves names; the system's resolver unless a test gives another one. */
  lookup?: LookupFunction | undefined
  /** A PEM certificate trusted besides the usual ones. */
  ca?: string | undefined
  connectTimeoutMs: number
}

type Target = buildConnector.Options
type Answer = buildConnector.Callback

/** Every socket is in `sockets` until it is closed, so that the owner can end all of them. */
export function guardedConnector(options: ConnectOptions, sockets: Set<Socket>): buildConnector.connector {
  // Created at its first use: reading the usual certificates takes a while.
  let startTls: buildConnector.connector | undefined
  return (target, answer) => {
    openTcp(options, target, sockets, (error, socket) => {
      if (error) {
        answer(error, null)
      } else if (target.protocol === 'https:') {
        const finish = boundTls(options, socket, answer)
        // A connector that opens its own socket for TLS would resolve the name again, without the check.
        startTls ??= buildConnector({ timeout: 0, ...trusting(options.ca) })
        startTls({ ...target, httpSocket: socket }, finish)
      } else {
        answer(null, socket)
      }
    })
  }
}

function openTcp(options: ConnectOptions, target: Target, sockets: Set<Socket>, answer: Answer): void {
  const { judge } = options
  const host = target.hostname
  const refusal = isIP(host) === 0 ? undefined : judge(host, [host])
  if (refusal) {
    answer(refusal, null)
    return
  }
  const port = Number(target.port || (target.protocol === 'https:' ? 443 : 80))
  const lookup = guardedLookup(judge, options.lookup ?? systemLookup)
  const socket = connectTcp({ host, port, lookup, noDelay: true, keepAlive: true })
  sockets.add(socket)
  socket.once('close', () => sockets.delete(socket))
  const finish = bounded(options, socket, answer)
  socket.once('connect', () => {
    const late = judge(host, [socket.remoteAddress ?? ''])
    if (late) socket.destroy()
    finish(...(late ? ([late, null] as const) : ([null, socket] as const)))
  })
}

function boundTls(options: ConnectOptions, tcp: Socket, answer: Answer): Answer {
  const finish = bounded(options, tcp, answer)
  // When the connection ends before the handshake, only the socket below has an event.
  tcp.once('close', () => {
    finish(new Error('the connection closed during the TLS handshake'), null)
  })
  return (...result) => {
    if (result[0]) tcp.destroy()
    finish(...result)
  }
}

/** Calls back once: with the result, an error of the socket, or the end of the time, whichever comes first. */
function bounded({ clock, connectTimeoutMs }: ConnectOptions, socket: Socket, answer: Answer): Answer {
  let isAnswered = false
  const finish: Answer = (...result) => {
    if (isAnswered) return
    isAnswered = true
    cancel()
    socket.off('error', fail)
    // Later errors belong to the user of the socket; without one they are ignored.
    if (result[0]) socket.on('error', () => undefined)
    answer(...result)
  }
  const fail = (error: Error) => {
    finish(error, null)
  }
  const cancel = clock.after(connectTimeoutMs, () => {
    finish(new Error(`no connection after ${connectTimeoutMs} ms`), null)
    socket.destroy()
  })
  socket.on('error', fail)
  return finish
}

/** One forbidden address refuses them all: which one would be used cannot be known. */
function guardedLookup(judge: Judge, lookup: LookupFunction): LookupFunction {
  return (host, options, answer) => {
    lookup(host, { ...options, all: true }, (error, found) => {
      const answers = typeof found === 'string' ? [{ address: found, family: isIP(found) }] : found
      const addresses = error ? [] : answers.map(({ address }) => address)
      const refusal = error ?? judge(host, addresses)
      if (refusal || addresses.length === 0) {
        answer(refusal ?? new Error(`${host} has no address`), [])
        return
      }
      if (options.all) answer(null, answers)
      else answer(null, answers[0]?.address ?? '', answers[0]?.family)
    })
  }
}

function trusting(ca: string | undefined): { secureContext?: SecureContext } {
  if (ca === undefined) return {}
  return { secureContext: createSecureContext({ ca: [...getCACertificates('default'), ca] }) }
}
