// The network port: what the service needs of a consumer messaging network, in the service's own words.

/** Why a connection ended. The supervisor decides by it; codes and texts are only for people. */
export type CloseCause =
  /** The device was removed or logged out: the session is worthless. */
  | 'invalidated'
  /** The account is locked or banned for good: worthless too, and a strike. */
  | 'banned'
  /** Banned until `until`: a strike; the session may live on. */
  | 'temporary_ban'
  /** This client is not accepted as it is (outdated, bad user agent, multi-device mismatch). */
  | 'client_refused'
  /** Another client opened the same session. */
  | 'replaced'
  /** The network asks to connect again at once, as it does after a pairing. */
  | 'restart'
  /** All QR codes of a pairing were shown and none was scanned. */
  | 'pairing_over'
  /** Anything else: try again later. */
  | 'transient'

export type Closing = {
  cause: CloseCause
  /** The network's own code, or null when the connection just broke. */
  code: number | null
  /** A sentence for the operator; says what to do where something can be done. */
  reason: string
  /** Epoch milliseconds at which a temporary ban ends. */
  until?: number
}

export type SessionSignal =
  /** A QR code to scan; replaces the one before. */
  | { kind: 'qr'; text: string }
  /** The account was linked: its credentials are stored. The network closes with `restart` next. */
  | { kind: 'paired'; jid: string }
  /** Logged in. */
  | { kind: 'authenticated'; jid: string }
  /** What waited on the server while we were away has been handed over. */
  | { kind: 'drained' }
  /** The last signal of a session. Everything the session had written is stored. */
  | { kind: 'closed'; closing: Closing }

/** To be typed on the phone; `expiresAt` in epoch milliseconds. */
export type PairingCode = { code: string; expiresAt: number }

/** One connection. Signals come in order, never before open() has resolved, and never after close() has resolved. */
export type NetworkSession = {
  /** Resolves when the server answered a ping; rejects when it did not within `ms`. */
  probe(ms: number): Promise<void>
  /** Asks for a code to type on the phone instead of scanning; only while pairing. */
  requestPairingCode(phone: string): Promise<PairingCode>
  /** Sends a text under this message id; resolves when the server has acknowledged it. */
  sendText(chat: string, text: string, messageId: string): Promise<void>
  /** Tells the network to forget this device; resolves when it was told. A `closed` signal may follow. */
  logout(): Promise<void>
  /** Closes without logging out; no `closed` signal follows. Does no harm on a session that has ended. */
  close(): Promise<void>
}

export type Network = {
  /** Connects with the stored credentials of this session, or starts a pairing when there are none. */
  open(sessionId: string, onSignal: (signal: SessionSignal) => void): Promise<NetworkSession>
  /** The jid (without device part) of the linked account whose credentials are stored, or null. */
  storedJid(sessionId: string): Promise<string | null>
  /** Closes the session and lets go of what is remembered of it; what is stored stays. */
  release(sessionId: string): Promise<void>
  /** Removes everything stored for the session. */
  forget(sessionId: string): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}
