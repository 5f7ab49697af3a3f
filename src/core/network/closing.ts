// How a connection to the network ended.

/** Why a connection ended. `instances` decides by the cause; codes and texts are only for people. */
export type CloseCause =
  /** The device was removed or logged out. The session cannot be used again. */
  | 'invalidated'
  /** The account is locked or banned for good. The session cannot be used again, and the ban counts as a strike. */
  | 'banned'
  /** Banned until `until`. The ban counts as a strike; the session may still be valid afterwards. */
  | 'temporary_ban'
  /** The network refuses this client: outdated, bad user agent or multi-device mismatch. */
  | 'client_refused'
  /** Another client opened the same session. */
  | 'replaced'
  /** The network asks to connect again at once, as it does after a pairing. */
  | 'restart'
  /** All QR codes of a pairing were shown and none was scanned. */
  | 'pairing_over'
  /** Any other end. A later connection may succeed. */
  | 'transient'

/** Why the network could not be reached. */
export type UnreachableCause =
  /** A host name was not found. */
  | 'dns'
  /** The server, or a firewall before it, refuses connections. */
  | 'refused'
  /** This machine knows no way to the server. */
  | 'no_route'
  /** No answer came in time. */
  | 'timeout'
  /** The proxy cannot be used. */
  | 'proxy'
  /** The TLS connection failed, for example because of a certificate. */
  | 'tls'
  /** The server has no valid certificate of the network. */
  | 'not_genuine'
  /** The server that answered is not one of the network. */
  | 'other_server'
  /** The network itself says that it does not work. */
  | 'away'
  /** The connection ended without a reason. */
  | 'broken'

/** `cure` says what an operator can do. */
export type Unreachable = { cause: UnreachableCause; cure: string }

/** Why a question to the network got no answer, and what an operator can do. */
export type Unanswered = { reason: string; cure: string }

export type Closing = {
  cause: CloseCause
  /** The network's own code, or null when the connection just broke. */
  code: number | null
  /** A sentence for the operator; says what to do where something can be done. */
  reason: string
  /** Epoch milliseconds at which a temporary ban ends. */
  until?: number
  /** Only with the cause `transient`, and only if the end means that the network was not reached unless we had logged in. */
  unreachable?: Unreachable
  /** Where the cause alone does not say enough to a program. */
  errorCode?: 'passkey_required' | 'version_refused' | 'server_not_genuine'
  /** The next attempt differs from the one that was refused, so it may be made at once. */
  mayRetryNow?: boolean
}
