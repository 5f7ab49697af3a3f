// Who a callback is for: the chat it belongs to, and the address under which that chat is written to.

import { chatJid, groupJid, parseChat, personJid, phoneJid } from '../core/address.ts'
import type { Chat, Person } from '../core/address.ts'
import type { Recipient } from '../core/downstream.ts'
import type { NetworkSession } from '../core/network.ts'
import { phoneVariants } from '../core/phone-variants.ts'
import type { PeopleStore, PersonRecord } from '../storage/people-store.ts'
import type { SentMessageStore } from '../storage/sent-message-store.ts'
import { StorageError } from '../storage/statement.ts'
import { SendRefusal } from './send-refusal.ts'

/** `chat` is what lanes, map and conversations call it; `jid` what the helpdesk called it. */
export type ChatRef = { chat: string; jid: string; isGroup: boolean }

type Deps = {
  people: Pick<PeopleStore, 'find' | 'insert' | 'update' | 'get'>
  sent: Pick<SentMessageStore, 'lastAddress' | 'isKnown'>
  epoch: () => number
  newId: () => string
}

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
    if (chat.kind === 'group') return { chat: groupJid(chat.id), jid: groupJid(chat.id), isGroup: true }
    const known = (await this.#find(instance, chat)) ?? (await this.#remember(instance, chat))
    return { chat: known.id, jid: chatJid(chat), isGroup: false }
  }

  /** Whether the other side of this chat has ever written to us. */
  async hasWritten(instance: string, { chat, isGroup }: ChatRef): Promise<boolean> {
    return isGroup || (await this.#deps.sent.lastAddress(instance, chat)) !== undefined
  }

  /** Where to write: the address last heard from, else the one the network confirms. */
  async addressOf(instance: string, ref: ChatRef, session: Pick<NetworkSession, 'findPerson'>): Promise<string> {
    if (ref.isGroup) return ref.jid
    const last = await this.#deps.sent.lastAddress(instance, ref.chat)
    if (last !== undefined) return last
    const person = await this.#deps.people.get(instance, ref.chat)
    const isConfirmed =
      person !== undefined && (person.lid !== null || (await this.#deps.sent.isKnown(instance, ref.chat)))
    if (person && (isConfirmed || person.phone === null)) return personJid(person)
    return this.#confirm(instance, ref, person?.phone ?? phoneOf(ref.jid), session)
  }

  async #confirm(
    instance: string,
    ref: ChatRef,
    phone: string | null,
    session: Pick<NetworkSession, 'findPerson'>,
  ): Promise<string> {
    if (phone === null) return ref.jid
    for (const spelling of phoneVariants(phone)) {
      const found = await session.findPerson(spelling)
      if (!found) continue
      await this.#learn(instance, ref.chat, found)
      return found.phone === null ? personJid(found) : phoneJid(found.phone)
    }
    throw new SendRefusal('this number is not on WhatsApp: check it with the contact')
  }

  async #find(instance: string, person: Person): Promise<PersonRecord | undefined> {
    const spellings = person.phone === null ? [null] : phoneVariants(person.phone)
    for (const phone of spellings) {
      const found = await this.#deps.people.find(instance, { phone, lid: person.lid })
      const [best] = found.sort((a, b) => Number(b.lid !== null) - Number(a.lid !== null))
      if (best) return best
    }
    return undefined
  }

  async #remember(instance: string, { phone, lid }: Person): Promise<PersonRecord> {
    const person = { id: this.#deps.newId(), phone, lid, pushName: null, savedName: null }
    try {
      await this.#deps.people.insert(this.#deps.epoch(), instance, person)
      return person
    } catch (error) {
      // Somebody was quicker.
      const known = isTaken(error) ? await this.#find(instance, { phone, lid }) : undefined
      if (!known) throw error
      return known
    }
  }

  /** In the spelling the network uses; one that belongs to somebody else by now is left to those who merge people. */
  async #learn(instance: string, id: string, { phone, lid }: Person): Promise<void> {
    const changes = { ...(phone !== null && { phone }), ...(lid !== null && { lid }) }
    try {
      await this.#deps.people.update(this.#deps.epoch(), instance, id, changes)
    } catch (error) {
      if (!isTaken(error)) throw error
    }
  }
}

function phoneOf(jid: string): string | null {
  const chat = parseChat(jid)
  return chat?.kind === 'person' ? chat.phone : null
}

function isTaken(error: unknown): boolean {
  return error instanceof StorageError && error.failure === 'constraint'
}
