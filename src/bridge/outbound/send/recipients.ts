// Who a callback is for: the chat it belongs to, and the address under which that chat is written to.

import { chatJid, groupJid, parseChat, personJid } from '../../../core/address.ts'
import type { Chat, Person } from '../../../core/address.ts'
import type { Recipient } from '../../../core/downstream.ts'
import type { NetworkSession } from '../../../core/network.ts'
import { phoneVariants } from '../../../core/phone-variants.ts'
import type { PersonRecord } from '../../../storage/stores/people/people-store.ts'
import type { SentMessageStore } from '../../../storage/stores/messages/sent-message-store.ts'
import type { SendContextFacts } from '../../../storage/stores/messages/send-context-store.ts'
import type { People } from '../../people/people.ts'
import { SendRefusal } from '../compose/send-refusal.ts'

/** `chat` is what lanes, map and conversations call it; `jid` what the helpdesk called it. */
export type ChatRef = { chat: string; jid: string; isGroup: boolean }

type Deps = {
  people: Pick<People, 'upsert' | 'lookUp'>
  sent: Pick<SentMessageStore, 'lastAddress' | 'isKnown'>
}

/** Where to write, and what the chat is called once the network has said who that is. */
export type Address = { jid: string; chat: string }

export function recipientChat({ identifier, phone, sourceId }: Recipient): Chat | undefined {
  const named = identifier === null ? undefined : parseChat(identifier)
  if (named) return named
  const digits = (phone ?? '').replace(/[^\d]/g, '')
  if (/^\d{5,20}$/.test(digits)) return { kind: 'person', phone: digits, lid: null }
  return sourceId === null ? undefined : ownSourceId(sourceId)
}

/** As we name contacts in an inbox: digits of a phone, `lid-…`, `group-…`. */
function ownSourceId(sourceId: string): Chat | undefined {
  const [, kind, id = ''] = /^(lid-|group-)?(\d{5,20}(?:-\d{1,20})?)$/.exec(sourceId) ?? []
  if (id === '') return undefined
  if (kind === 'group-') return { kind: 'group', id }
  if (id.includes('-')) return undefined
  return kind === 'lid-' ? { kind: 'person', phone: null, lid: id } : { kind: 'person', phone: id, lid: null }
}

export class Recipients {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  async refOf(instance: string, chat: Chat): Promise<ChatRef> {
    if (chat.kind === 'group') return groupRef(chat.id)
    const known = await this.lookUp(instance, chat)
    if (known) return known
    const { id } = await this.#deps.people.upsert(instance, { phone: chat.phone, lid: chat.lid })
    return { chat: id, jid: chatJid(chat), isGroup: false }
  }

  /** Like refOf, but nobody is written down: undefined for people nothing is known of. */
  async lookUp(instance: string, chat: Chat): Promise<ChatRef | undefined> {
    if (chat.kind === 'group') return groupRef(chat.id)
    const known = await this.#find(instance, chat)
    return known && { chat: known.id, jid: chatJid(chat), isGroup: false }
  }

  /** Whether the other side of this chat has ever written to us. */
  async hasWritten(instance: string, { chat, isGroup }: ChatRef): Promise<boolean> {
    return isGroup || (await this.#deps.sent.lastAddress(instance, chat)) !== undefined
  }

  /** The address last heard from, else the one the network confirms. */
  async addressOf(instance: string, ref: ChatRef, session: Pick<NetworkSession, 'findPerson'>): Promise<Address> {
    const { sent } = this.#deps
    const lastAddress = ref.isGroup ? undefined : await sent.lastAddress(instance, ref.chat)
    const isKnown = () => sent.isKnown(instance, ref.chat)
    const found = await this.#addressWithout(instance, ref, lastAddress, isKnown)
    return 'jid' in found ? found : this.#confirm(instance, found.unconfirmed, session)
  }

  /** The same, by what was heard in this chat; undefined when the network has to be asked. */
  async addressAtOnce(
    instance: string,
    ref: ChatRef,
    { lastAddress, isKnown }: Pick<SendContextFacts, 'lastAddress' | 'isKnown'>,
  ): Promise<Address | undefined> {
    const found = await this.#addressWithout(instance, ref, lastAddress, () => Promise.resolve(isKnown))
    return 'jid' in found ? found : undefined
  }

  /** Without asking the network; a phone number that it must confirm first when nothing is known of it. */
  async #addressWithout(
    instance: string,
    { chat, jid, isGroup }: ChatRef,
    lastAddress: string | undefined,
    isKnown: () => Promise<boolean>,
  ): Promise<Address | { unconfirmed: string }> {
    if (isGroup) return { jid, chat }
    if (lastAddress !== undefined) return { jid: lastAddress, chat }
    const named = parseChat(jid)
    if (named?.kind !== 'person' || named.phone === null) return { jid, chat }
    const person = await this.#find(instance, named)
    const isConfirmed = person !== undefined && (person.lid !== null || (await isKnown()))
    return isConfirmed ? { jid: personJid(person), chat: person.id } : { unconfirmed: named.phone }
  }

  async #confirm(instance: string, phone: string, session: Pick<NetworkSession, 'findPerson'>): Promise<Address> {
    for (const spelling of phoneVariants(phone)) {
      const found = await session.findPerson(spelling)
      if (!found) continue
      const { id } = await this.#deps.people.upsert(instance, found)
      return { jid: personJid(found), chat: id }
    }
    throw new SendRefusal('this number is not on WhatsApp: check it with the contact')
  }

  /** Under any spelling; one that the network has confirmed before one that only the helpdesk knows. */
  async #find(instance: string, { phone, lid }: Person): Promise<PersonRecord | undefined> {
    const spellings = phone === null ? [null] : phoneVariants(phone)
    const found: PersonRecord[] = []
    for (const spelling of spellings) {
      const record = await this.#deps.people.lookUp(instance, { phone: spelling, lid })
      if (record?.lid != null) return record
      if (record) found.push(record)
    }
    return found[0]
  }
}

function groupRef(id: string): ChatRef {
  return { chat: groupJid(id), jid: groupJid(id), isGroup: true }
}
