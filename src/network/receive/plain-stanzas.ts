// Stores stanzas that are not encrypted messages before the library confirms them to the network.
//
// These are calls, group changes, and messages without a ciphertext that the library can open.

import type { Person } from '../../core/address.ts'
import type { InstanceName } from '../../core/ids.ts'
import type { Reception } from '../../core/network/reception.ts'
import type { Account, KnownCall } from '../account/account.ts'
import type { SenderKeyHolders } from '../account/sender-key-holders.ts'
import { callNotice, groupEvent, withheldEvent } from '../decode/notices.ts'
import type { CallNotice } from '../decode/notices.ts'
import { whoLeft } from '../decode/group-changes.ts'
import type { BinaryNode } from '../library/library.ts'
import { childrenOf } from '../library/nodes.ts'
import { noticeName } from './journal.ts'
import type { Journal } from './journal.ts'
import type { NewIdentities } from './new-identities.ts'

type Deps = {
  journal: Journal
  account: Account
  keyHolders: SenderKeyHolders
  newIdentities: NewIdentities
  instance: InstanceName
  reception: Partial<Reception>
  own: () => Person
  now: () => number
}

/** The library drops ciphertexts of other types without opening them. */
const openable = new Set(['msg', 'pkmsg', 'skmsg'])

export class PlainStanzas {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  get #context() {
    return { own: this.#deps.own(), now: this.#deps.now }
  }

  /** Returns a promise if the library must wait. An encrypted message only waits for its turn: the journal stores it. */
  storeFirst(event: string, stanza: BinaryNode): Promise<void> | undefined {
    if (event === 'CB:message') return this.#message(stanza)
    if (event === 'CB:call') return this.#call(stanza)
    return event === 'CB:notification' ? this.#notification(stanza) : undefined
  }

  #message(stanza: BinaryNode): Promise<void> | undefined {
    const { journal, reception, instance, now } = this.#deps
    const ciphertexts = childrenOf(stanza, 'enc').flatMap(({ attrs, content }) =>
      openable.has(attrs['type'] ?? '') && content instanceof Uint8Array ? [content] : [],
    )
    if (ciphertexts.length > 0) return journal.announce(stanza, ciphertexts)
    const origin = journal.originOf(stanza)
    if (origin) return journal.storeNotice(noticeName('withheld', origin), withheldEvent(origin, stanza, now()), stanza)
    reception.onPassedOver?.(instance, 'no chat')
    return undefined
  }

  #call(stanza: BinaryNode): Promise<void> | undefined {
    const notice = callNotice(stanza, this.#context)
    if (!notice) return undefined
    const { journal, account } = this.#deps
    const { callId, state, event } = notice
    const known = account.calls.get(callId)
    account.calls.set(callId, this.#remembered(notice, known))
    if (state !== 'rings' && (state !== 'missed' || known?.isAnswered === true)) return undefined
    const video = event.video || known?.video === true
    return journal.storeNotice(`call|${callId}|${state}`, { ...event, video }, stanza)
  }

  #remembered({ state, event }: CallNotice, known: KnownCall | undefined): KnownCall {
    return {
      video: event.video || known?.video === true,
      isAnswered: state === 'answered' || known?.isAnswered === true,
      isOver: state === 'answered' || state === 'missed' || known?.isOver === true,
    }
  }

  #notification(stanza: BinaryNode): Promise<void> | undefined {
    const { from = '', id = '' } = stanza.attrs
    const { journal, keyHolders, newIdentities } = this.#deps
    const event = groupEvent(stanza, this.#context)
    if (!event) return newIdentities.store(stanza)
    // The key of the group is renewed in the commit that stores who has left.
    const renewKey = () => keyHolders.renewWithoutInStep(from, whoLeft(event))
    return journal.storeNotice(`group|${from}|${id}`, event, stanza, renewKey)
  }
}
