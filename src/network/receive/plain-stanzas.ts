// What must be stored before the library may confirm it, although it is not an encrypted message: calls, changes of groups,
// messages of which we get nothing but the notice.

import type { Reception } from '../../core/network.ts'
import type { Account } from '../account/account.ts'
import { callWord, groupEvent, withheldEvent } from '../decode/notices.ts'
import type { CallWord } from '../decode/notices.ts'
import { messageName } from './journal.ts'
import type { Journal } from './journal.ts'
import { childrenOf } from '../library/library.ts'
import type { BinaryNode } from '../library/library.ts'
import type { Person } from '../../core/address.ts'

type Deps = {
  journal: Journal
  account: Account
  instance: string
  reception: Partial<Reception>
  own: () => Person
  now: () => number
}

/** Whatever else is sealed, the library drops without opening it. */
const openable = new Set(['msg', 'pkmsg', 'skmsg'])

export class PlainStanzas {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  get #context() {
    return { own: this.#deps.own(), now: this.#deps.now }
  }

  /** A promise when the library has to wait for it. */
  storeFirst(event: string, stanza: BinaryNode): Promise<void> | undefined {
    if (event === 'CB:message') return this.#message(stanza)
    if (event === 'CB:call') return this.#call(stanza)
    return event === 'CB:notification' ? this.#notification(stanza) : undefined
  }

  #message(stanza: BinaryNode): Promise<void> | undefined {
    const { journal } = this.#deps
    const sealed = childrenOf(stanza).flatMap(({ tag, attrs, content }) =>
      tag === 'enc' && openable.has(attrs['type'] ?? '') && content instanceof Uint8Array ? [content] : [],
    )
    if (sealed.length > 0) return journal.announce(stanza, sealed)
    const origin = journal.originOf(stanza)
    if (origin)
      return journal.storeNotice(messageName('withheld', origin), withheldEvent(origin, stanza, this.#deps.now()))
    this.#deps.reception.onPassedOver?.(this.#deps.instance, 'no chat')
    return undefined
  }

  #call(stanza: BinaryNode): Promise<void> | undefined {
    const word = callWord(stanza, this.#context)
    if (!word) return undefined
    const { journal, account } = this.#deps
    const known = account.calls.get(word.callId)
    account.calls.set(word.callId, this.#remembered(word, known))
    if (word.word !== 'rings' && (word.word !== 'missed' || known?.isAnswered === true)) return undefined
    const video = word.event.video || known?.video === true
    return journal.storeNotice(`call|${word.callId}|${word.word}`, { ...word.event, video })
  }

  #remembered({ word, event }: CallWord, known: { video: boolean; isAnswered: boolean } | undefined) {
    return {
      video: event.video || known?.video === true,
      isAnswered: word === 'answered' || known?.isAnswered === true,
    }
  }

  #notification(stanza: BinaryNode): Promise<void> | undefined {
    const event = groupEvent(stanza, this.#context)
    const { from = '', id = '' } = stanza.attrs
    return event && this.#deps.journal.storeNotice(`group|${from}|${id}`, event)
  }
}
