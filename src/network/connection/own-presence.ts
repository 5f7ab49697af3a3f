// Tells the network whether the account is online and where it types.
//
// The library sends a presence without a type at every change of the credentials, mostly without a name too (Baileys #2553).
// The network may read such a presence as "available", and then the owner's phone stops ringing. So the library gets no
// reason to send one, and a new name is announced here, together with the type.

import type { Jid } from '../../core/ids.ts'
import { ignoreRejection } from '../../lib/ignore.ts'
import { isLinked } from '../account/account.ts'
import type { AuthenticationCreds, WASocket } from '../library/library.ts'

type Deps = { socket: WASocket; creds: AuthenticationCreds }

export class OwnPresence {
  readonly #deps: Deps
  #isAvailable = false

  constructor(deps: Deps) {
    this.#deps = deps
    this.#replaceAnnouncements()
  }

  setAvailable(isAvailable: boolean): Promise<void> {
    this.#isAvailable = isAvailable
    return this.#deps.socket.sendPresenceUpdate(isAvailable ? 'available' : 'unavailable')
  }

  /** The library would add our address to the stanza. The server knows it. */
  setTyping(chat: Jid, isTyping: boolean): Promise<void> {
    const state = { tag: isTyping ? 'composing' : 'paused', attrs: {} }
    return this.#deps.socket.sendNode({ tag: 'chatstate', attrs: { to: chat }, content: [state] })
  }

  /** The library compares the name in each change with the stored name. A missing name counts as another name. */
  #replaceAnnouncements(): void {
    const { socket, creds } = this.#deps
    const emit = socket.ev.emit.bind(socket.ev) as (event: string, change: unknown) => boolean
    const emitWithName = (event: string, change: unknown) => {
      if (event !== 'creds.update') return emit(event, change)
      const wasLinked = isLinked(creds)
      const name = creds.me?.name
      Object.assign(creds, change)
      const hasListeners = emit(event, {
        ...(change as Partial<AuthenticationCreds>),
        ...(creds.me && { me: creds.me }),
      })
      if (wasLinked && creds.me?.name !== name) this.setAvailable(this.#isAvailable).catch(ignoreRejection)
      return hasListeners
    }
    Object.assign(socket.ev, { emit: emitWithName })
  }
}
