// Translates the library's reports about a connection into signals of the service.

import type { Closing } from '../../core/network.ts'
import { jidOf } from '../account/account.ts'
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
  /** The session is opened only to be logged out. */
  isLeaving: boolean
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
    const { socket, isLeaving, end } = this.#deps
    socket.ev.on('connection.update', (update) => {
      this.#onUpdate(update)
    })
    // The library would wait up to half a minute for the server to hang up.
    for (const farewell of farewells) {
      socket.ws.on(farewell, () => {
        terminate(socket)
      })
    }
    // The library prepares the connection before it reports the login. A logout need not wait for that.
    if (isLeaving) {
      socket.ws.on('CB:success', () => {
        this.#onLogin()
      })
    }
    socket.ws.on('CB:notification', ({ attrs }: BinaryNode) => {
      if (passkeyRequests.has(attrs['type'] ?? '')) end(passkeyClosing)
    })
  }

  #onUpdate(update: Partial<ConnectionState>): void {
    const { creds, connectionKeys, signals, phase, offer, onClosed, onDrained } = this.#deps
    const { connection, qr, isNewLogin, receivedPendingNotifications, lastDisconnect } = update
    if (qr !== undefined) {
      offer.takeCode()
      signals.announce({ kind: 'qr', text: qr })
    }
    if (isNewLogin) signals.announce({ kind: 'paired', jid: jidOf(creds) }, { after: connectionKeys.saveCreds() })
    const isLogin = connection === 'open' && this.#onLogin()
    // The library may report the end of the backlog before the login.
    const isDrained = receivedPendingNotifications === true && phase.move('drain')
    if ((isLogin || isDrained) && phase.current === 'ready') {
      signals.announce({ kind: 'drained' })
      onDrained()
    }
    if (connection === 'close') onClosed(lastDisconnect?.error)
  }

  #onLogin(): boolean {
    const { creds, signals, phase } = this.#deps
    const isLogin = phase.move('authenticate')
    if (isLogin) signals.announce({ kind: 'authenticated', jid: jidOf(creds) })
    return isLogin
  }
}
