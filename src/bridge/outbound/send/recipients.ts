// Finds the chat that a callback is for, and the address to which a message of that chat is sent.

import { chatJid, groupChatId, groupJid, parseChat, personJid } from '../../../core/address.ts'
import type { Chat, Person } from '../../../core/address.ts'
import type { Recipient } from '../../../core/downstream.ts'
import type { ChatId, InstanceName, Jid } from '../../../core/ids.ts'
import type { NetworkSession } from '../../../core/network.ts'
import { phoneVariants } from '../../../core/phone-variants.ts'
import type { PersonRecord } from '../../../storage/stores/people/people-store.ts'
import type { SentMessageStore } from '../../../storage/stores/messages/sent-message-store.ts'
import type { SendContextFacts } from '../../../storage/stores/messages/send-context-store.ts'
import type { People } from '../../people/people.ts'
import { SendRefusal } from '../compose/send-refusal.ts'

/** `chatId` is our key of the chat, `jid` the address that the helpdesk gave. */
export type ChatRef = { chatId: ChatId; jid: Jid; isGroup: boolean }

export type ChatFacts = Pick<SendContextFacts, 'lastAddress' | 'isKnown'>

type Deps = {
  people: Pick<People, 'upsert' | 'lookUp'>
  sent: Pick<SentMessageStore, 'lastAddress' | 'isKnown'>
}

/** Where to send, and our key of the chat once the network has confirmed the person. */
export type Address = { jid: Jid; chatId: ChatId }

export function recipientChat({ identifier, phone, sourceId }: Recipient): Chat | undefined {
  const named = identifier === null ? undefined : parseChat(identifier)
  if (named) return named
  const digits = (phone ?? '').replace(/[^\d]/g, '')
  if (/^\d{5,20}$/.test(digits)) return { kind: 'person', phone: digits, lid: null }
  return sourceId === null ? undefined : ownSourceId(sourceId)
}

/** The source ids that we give contacts: the digits of a phone, `lid-…`, `group-…`. */
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

  async refOf(instance: InstanceName, chat: Chat): Promise<ChatRef> {
    if (chat.kind === 'group') return groupRef(chat.id)
    const known = await this.lookUp(instance, chat)
    if (known) return known
    const { id } = await this.#deps.people.upsert(instance, { phone: chat.phone, lid: chat.lid })
    return { chatId: id, jid: chatJid(chat), isGroup: false }
  }

  /** Like refOf, but stores nothing: undefined for an unknown person. */
  async lookUp(instance: InstanceName, chat: Chat): Promise<ChatRef | undefined> {
    if (chat.kind === 'group') return groupRef(chat.id)
    const known = await this.#find(instance, chat)
    return known && { chatId: known.id, jid: chatJid(chat), isGroup: false }
  }

  /** Whether the chat has ever written to us. */
  async hasWritten(instance: InstanceName, { chatId, isGroup }: ChatRef): Promise<boolean> {
    return isGroup || (await this.#deps.sent.lastAddress(instance, chatId)) !== undefined
  }

  /** The address from which the chat last wrote, else the address that the network confirms. */
  async addressOf(instance: InstanceName, ref: ChatRef, session: Pick<NetworkSession, 'findPerson'>): Promise<Address> {
    const { sent } = this.#deps
    const lastAddress = ref.isGroup ? undefined : await sent.lastAddress(instance, ref.chatId)
    const isKnown = () => sent.isKnown(instance, ref.chatId)
    const found = await this.#withoutNetwork(instance, ref, lastAddress, isKnown)
    return 'jid' in found ? found : this.#confirm(instance, found.unconfirmed, session)
  }

  /** The same from facts that were read before; undefined when the network has to be asked. */
  async knownAddressOf(
    instance: InstanceName,
    ref: ChatRef,
    { lastAddress, isKnown }: ChatFacts,
  ): Promise<Address | undefined> {
    const found = await this.#withoutNetwork(instance, ref, lastAddress, () => Promise.resolve(isKnown))
    return 'jid' in found ? found : undefined
  }

  /** Does not ask the network. Returns the phone number when the network must confirm it first. */
  async #withoutNetwork(
    instance: InstanceName,
    { chatId, jid, isGroup }: ChatRef,
    lastAddress: Jid | undefined,
    isKnown: () => Promise<boolean>,
  ): Promise<Address | { unconfirmed: string }> {
    if (isGroup) return { jid, chatId }
    if (lastAddress !== undefined) return { jid: lastAddress, chatId }
    const named = parseChat(jid)
    if (named?.kind !== 'person' || named.phone === null) return { jid, chatId }
    const person = await this.#find(instance, named)
    const isConfirmed = person !== undefined && (person.lid !== null || (await isKnown()))
    return isConfirmed ? { jid: personJid(person), chatId: person.id } : { unconfirmed: named.phone }
  }

  async #confirm(instance: InstanceName, phone: string, session: Pick<NetworkSession, 'findPerson'>): Promise<Address> {
    for (const spelling of phoneVariants(phone)) {
      const found = await session.findPerson(spelling)
      if (!found) continue
      const { id } = await this.#deps.people.upsert(instance, found)
      return { jid: personJid(found), chatId: id }
    }
    throw new SendRefusal('this number is not on WhatsApp: check it with the contact')
  }

  /** Tries every spelling of the number. Prefers a person whom the network has confirmed. */
  async #find(instance: InstanceName, { phone, lid }: Person): Promise<PersonRecord | undefined> {
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
  return { chatId: groupChatId(id), jid: groupJid(id), isGroup: true }
}
