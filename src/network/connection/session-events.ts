// Translates the library's reports about a connection into signals of the service.

import type { Closing } from '../../core/network/closing.ts'
import { isLinked, jidOf } from '../account/account.ts'
import type { ConnectionKeys } from '../account/connection-keys.ts'
import type { AuthenticationCreds, BinaryNode, ConnectionState, WASocket } from '../library/library.ts'
import { passkeyClosing } from './close-causes.ts'
import { terminate } from './open-socket.ts'
import type { PairingOffer } from './pairing-offer.ts'
import type { SessionPhase } from './session-phase.ts'
import type { SessionSignals } from './session-signals.ts'

type Deps = {
  socket: WASocket
  creds: AuthenticationCreds
  connectionKeys: ConnectionKeys
  signals: SessionSignals
  phase: SessionPhase
  offer: PairingOffer
  /** The library has closed the connection, perhaps because of this error. */
  onClosed: (error: Error | undefined) => void
  end: (closing: Closing) => void
  /** The backlog was handed over. */
  onDrained: () => void
}

/** What the server says before it hangs up. */
export const farewells: ReadonlySet<string> = new Set(['CB:stream:error', 'CB:failure', 'CB:xmlstreamend'])
const passkeyRequests = new Set(['passkey_prologue_request', 'crsc_continuation'])

export class SessionEvents {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  listen(): void {
    const { socket, creds, end, onClosed } = this.#deps
    socket.ev.on('connection.update', (update) => {
      this.#onUpdate(update)
    })
    // The library would wait up to half a minute for the server to hang up.
    for (const farewell of farewells) {
      socket.ws.on(farewell, () => {
        terminate(socket)
      })
    }
    // A proxy or the server refuses the upgrade. The library would wait for a frame that never comes.
    socket.ws.on('unexpected-response', (_request: unknown, { statusCode = 0 }: { statusCode?: number }) => {
      onClosed(new Error(`status ${statusCode}`))
    })
    socket.ws.on('CB:notification', ({ attrs }: BinaryNode) => {
      // A linked account needs no passkey. The library acknowledges the request.
      if (passkeyRequests.has(attrs['type'] ?? '') && !isLinked(creds)) end(passkeyClosing)
    })
  }

  #onUpdate(update: Partial<ConnectionState>): void {
    const { creds, connectionKeys, signals, offer, onClosed } = this.#deps
    const { connection, qr, isNewLogin, lastDisconnect } = update
    if (qr !== undefined) {
      offer.takeCode()
      signals.announce({ kind: 'qr', text: qr })
    }
    if (isNewLogin) signals.announce({ kind: 'paired', jid: jidOf(creds) }, { after: connectionKeys.saveCreds() })
    if (connection === 'open') this.loggedIn()
    if (connection === 'close') onClosed(lastDisconnect?.error)
  }

  /** Only the first call has an effect. */
  loggedIn(): void {
    const { creds, signals, phase } = this.#deps
    if (!phase.move('authenticate')) return
    signals.announce({ kind: 'authenticated', jid: jidOf(creds) })
    this.#announceDrained()
  }

  /** Only the first call has an effect. It may come before the login. */
  backlogEnded(): void {
    if (this.#deps.phase.move('drain')) this.#announceDrained()
  }

  /** Only after the login and the end of the backlog. */
  #announceDrained(): void {
    const { signals, phase, onDrained } = this.#deps
    if (phase.current !== 'ready') return
    signals.announce({ kind: 'drained' })
    onDrained()
  }
}
