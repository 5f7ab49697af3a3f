// The failures of a request without an answer, by what the server may have seen of it.

/**
 * How much of the request was handed to the connection. A request sent in `part` is incomplete: a server that reads
 * it whole before it acts, as Rails behind Puma does, has done nothing.
 */
export type Sent = 'nothing' | 'part' | 'all'

/** `not_sent`: certainly not processed, may be repeated. `unknown`: may have been processed. */
export type Outcome = 'not_sent' | 'unknown'

export type EgressReason =
  /** The policy forbids the address, or a hop of a redirect was refused. */
  | 'refused'
  /** No connection: name, network, TLS. */
  | 'unreachable'
  /** The connection broke, or the answer was no HTTP. */
  | 'lost'
  | 'timeout'
  | 'aborted'
  /** The stream of the request body failed. */
  | 'body_failed'
  | 'too_large'
  | 'too_many_redirects'

type Details = {
  sent: Sent
  /** Status of the answer, when it had begun. */
  status?: number | undefined
  cause?: unknown
}

export class EgressError extends Error {
  readonly reason: EgressReason
  readonly sent: Sent
  readonly status: number | undefined

  constructor(reason: EgressReason, message: string, { sent, status, cause }: Details) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'EgressError'
    this.reason = reason
    this.sent = sent
    this.status = status
  }

  get outcome(): Outcome {
    return this.sent === 'nothing' ? 'not_sent' : 'unknown'
  }
}

/** Refused by policy: nothing was sent, and a repetition will not help until the configuration changes. */
export class EgressRefused extends EgressError {
  readonly host: string
  /** The address of the host. Not in the message: the message may reach the person who named the host. */
  readonly address: string

  constructor(host: string, address: string, kind: 'private' | 'never') {
    super('refused', kind === 'never' ? neverText(host) : privateText(host), { sent: 'nothing' })
    this.name = 'EgressRefused'
    this.host = host
    this.address = address
  }
}

function privateText(host: string): string {
  return `${host} is not on the public internet; if it may be contacted, name it in SERVICE_EGRESS_ALLOW`
}

function neverText(host: string): string {
  return `${host} is a link-local, metadata or reserved address, which is never contacted, SERVICE_EGRESS_ALLOW or not`
}
