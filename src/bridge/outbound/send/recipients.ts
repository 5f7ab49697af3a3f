// Finds the chat that a callback is for, and the address to which a message of that chat is sent.

import { chatJid, groupChatId, groupJid, parseChat, personJid } from '../../../core/address.ts'
import type { Chat, Person } from '../../../core/address.ts'
import type { Recipient } from '../../../core/helpdesk/callback.ts'
import type { ChatId, InstanceName, Jid } from '../../../core/ids.ts'
import type { NetworkSession } from '../../../core/network.ts'
import { phoneVariants } from '../../../core/phone-variants.ts'
import { writeReason } from '../../../core/reasons/reason.ts'
import type { PersonRecord } from '../../../storage/stores/people/people-store.ts'
import type { SentMessageStore } from '../../../storage/stores/messages/sent-message-store.ts'
import type { ChatFacts as StoredFacts, StoredChat } from '../../../storage/stores/messages/send-context-store.ts'
import type { People } from '../../people/people.ts'
import { SendRefusal } from '../compose/send-refusal.ts'

/** `chatId` is our key of the chat. `jid` is the address that the helpdesk gave, or the one of the stored person. */
export type ChatRef = { chatId: ChatId; jid: Jid; isGroup: boolean }

/** Without `person` the addresses of the person are looked up. */
export type ChatFacts = StoredFacts & { person?: Person | null }

type Deps = {
  people: Pick<People, 'upsert' | 'lookUp' | 'ofId'>
  sent: Pick<SentMessageStore, 'lastAddress' | 'isKnown'>
}

/** Where to send, and our key of the chat once the network has confirmed the person. */
export type Address = { jid: Jid; chatId: ChatId }

/** `isFirst`: no message of the chat with this person is known, of either side. */
export type RecipientAddress = Address & { isFirst: boolean }

/**
 * The chat that a callback means when its conversation is not stored. Our own source id comes first: the contact may be another
 * one since an agent merged two contacts. The contact counts only in conversations that agents began.
 */
export function recipientChat({ identifier, phone, sourceId }: Recipient): Chat | undefined {
  const named = ownChat({ sourceId }) ?? (identifier === null ? undefined : parseChat(identifier))
  if (named) return named
  const digits = (phone ?? '').replace(/[^\d]/g, '')
  return /^\d{5,20}$/.test(digits) ? { kind: 'person', phone: digits, lid: null } : undefined
}

/** Undefined for a person whom we do not know any more. */
export function storedRef({ chatId, person }: StoredChat): ChatRef | undefined {
  if (person) return { chatId, jid: personJid(person), isGroup: false }
  const jid: string = chatId
  return parseChat(jid)?.kind === 'group' ? { chatId, jid, isGroup: true } : undefined
}

/** The chat of a source id that we gave: the digits of a phone, `lid-…`, `group-…`. */
export function ownChat({ sourceId }: Pick<Recipient, 'sourceId'>): Chat | undefined {
  const [, kind, id = ''] = /^(lid-|group-)?(\d{5,20}(?:-\d{1,20})?)$/.exec(sourceId ?? '') ?? []
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
  async addressOf(
    instance: InstanceName,
    ref: ChatRef,
    session: Pick<NetworkSession, 'findPerson'>,
  ): Promise<RecipientAddress> {
    const { sent, people } = this.#deps
    if (ref.isGroup) return { jid: ref.jid, chatId: ref.chatId, isFirst: false }
    const lastAddress = await sent.lastAddress(instance, ref.chatId)
    const person = await people.ofId(instance, ref.chatId)
    const isKnown = () => sent.isKnown(instance, ref.chatId)
    const found = await this.#withoutNetwork(instance, ref, { lastAddress, person, isKnown })
    const address = 'jid' in found ? found : await this.#confirm(instance, found.unconfirmed, session)
    const isFirst = lastAddress === undefined && !(await sent.isKnown(instance, address.chatId))
    return { ...address, isFirst }
  }

  /** The same from facts that were read before; undefined when the network has to be asked. */
  async knownAddressOf(
    instance: InstanceName,
    ref: ChatRef,
    { lastAddress, ...facts }: ChatFacts,
  ): Promise<Address | undefined> {
    if (ref.isGroup) return { jid: ref.jid, chatId: ref.chatId }
    const person = facts.person ?? (await this.#deps.people.ofId(instance, ref.chatId))
    const isKnown = () => Promise.resolve(facts.isKnown)
    const found = await this.#withoutNetwork(instance, ref, { lastAddress, person, isKnown })
    return 'jid' in found ? found : undefined
  }

  /** Does not ask the network. Returns the phone number when the network must confirm it first. */
  async #withoutNetwork(
    instance: InstanceName,
    { chatId, jid }: ChatRef,
    { lastAddress, person, isKnown }: PersonFacts,
  ): Promise<Address | { unconfirmed: string }> {
    if (lastAddress !== undefined && isAddressOf(person, lastAddress)) return { jid: lastAddress, chatId }
    const phone = phoneIn(jid)
    if (phone === null && isAddressOf(person, jid)) return { jid, chatId }
    if (person && (person.lid !== null || (await isKnown()))) return { jid: personJid(person), chatId }
    if (phone === null) return { jid, chatId }
    const other = await this.#find(instance, { phone, lid: null })
    const isConfirmed = other !== undefined && (other.lid !== null || (await isKnown()))
    return isConfirmed ? { jid: personJid(other), chatId: other.id } : { unconfirmed: phone }
  }

  async #confirm(instance: InstanceName, phone: string, session: Pick<NetworkSession, 'findPerson'>): Promise<Address> {
    for (const spelling of phoneVariants(phone)) {
      const found = await session.findPerson(spelling)
      if (!found) continue
      const { id } = await this.#deps.people.upsert(instance, found)
      return { jid: personJid(found), chatId: id }
    }
    throw new SendRefusal(writeReason('numberUnknown'))
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

/** The person behind a chat, when there is a record. */
type PersonFacts = { lastAddress: Jid | undefined; person: Person | undefined; isKnown: () => Promise<boolean> }

function phoneIn(jid: Jid): string | null {
  const named = parseChat(jid)
  return named?.kind === 'person' ? named.phone : null
}

/** False for a number that the person had before. Of an unknown person nothing is known against an address. */
function isAddressOf(person: Person | undefined, jid: Jid): boolean {
  const named = parseChat(jid)
  if (!person || named?.kind !== 'person') return true
  return named.phone === null ? named.lid === person.lid : named.phone === person.phone
}

function groupRef(id: string): ChatRef {
  return { chatId: groupChatId(id), jid: groupJid(id), isGroup: true }
}
