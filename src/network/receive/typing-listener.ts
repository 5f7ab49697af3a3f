// Reports that people type, record or stop.
//
// The network sends a presence whenever a person comes or goes. Such a presence is reported only if it ends typing.

import type { Person } from '../../core/address.ts'
import type { InstanceName, Jid } from '../../core/ids.ts'
import type { RealtimeReception, TypingNotice } from '../../core/realtime.ts'
import { runOutside } from '../connection/fault-isolation.ts'
import { addressOf, isSame } from '../decode/origin.ts'
import type { BinaryNode, WASocket } from '../library/library.ts'
import { readOffline, readTyping } from './read-typing.ts'

type Deps = { instance: InstanceName; reception: Partial<RealtimeReception>; own: () => Person }

/** More people do not type at the same time. Without a limit, people who never stop would fill the memory. */
const maxTyping = 1000

export class TypingListener {
  readonly #deps: Deps
  /** The chats in which a person types. */
  readonly #typing = new Set<Jid>()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  listen({ ws }: WASocket): void {
    ws.on('CB:chatstate', (stanza: BinaryNode) => {
      const notice = readTyping(stanza)
      if (!notice || isSame(notice.who, this.#deps.own())) return
      this.#note(addressOf(stanza.attrs['from'] ?? ''), notice)
      this.#report(notice)
    })
    ws.on('CB:presence', (stanza: BinaryNode) => {
      const notice = readOffline(stanza)
      if (notice && this.#typing.delete(addressOf(stanza.attrs['from'] ?? ''))) this.#report(notice)
    })
  }

  #note(chat: Jid, { state }: TypingNotice): void {
    if (state === 'off') this.#typing.delete(chat)
    else if (this.#typing.size < maxTyping) this.#typing.add(chat)
  }

  #report(notice: TypingNotice): void {
    const { instance, reception } = this.#deps
    runOutside(() => reception.onTyping?.(instance, notice))
  }
}
