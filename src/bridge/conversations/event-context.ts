// The people and the group of an event, as far as anything is known of them.

import { groupJid } from '../../core/address.ts'
import type { Person } from '../../core/address.ts'
import type { ContactSpec } from '../../core/downstream.ts'
import type { Envelope } from '../../core/message.ts'
import type { PersonRecord } from '../../storage/stores/people/people-store.ts'
import { groupSpec, personSpec } from './contact-spec.ts'
import type { GroupDirectory, KnownGroup } from '../people/group-directory.ts'
import type { ChatContact } from './conversation-directory.ts'
import { contactName, strangerOf } from '../people/names.ts'
import type { KnownPerson } from '../people/names.ts'
import type { People } from '../people/people.ts'

type Deps = { people: People; groups: GroupDirectory; groupWord: string; ownPerson: (instance: string) => Person }

/** Everybody an event is about. */
export type EventContext = {
  place: ChatContact
  /** The id of a person, or `me`. */
  senderId: string
  sender: KnownPerson
  isGroup: boolean
  /** What is known of anybody else; `me` is the account itself. */
  who: (person: Person | 'me') => Promise<KnownPerson>
}

export class EventContexts {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Which lane an event belongs in: one per group, one per person however addressed. */
  async chatOf(instance: string, { chat, fromMe, pushName }: Envelope): Promise<string> {
    if (chat.kind === 'group') return groupJid(chat.id)
    return (await this.#deps.people.upsert(instance, chat, fromMe ? null : pushName)).id
  }

  async contextOf(instance: string, event: Envelope): Promise<EventContext> {
    const { chat, fromMe } = event
    const group = chat.kind === 'group' ? await this.#deps.groups.find(instance, chat.id) : null
    const who = (person: Person | 'me') => this.#who(instance, person, group)
    const place = chat.kind === 'group' ? this.#groupPlace(instance, chat.id) : await this.#personPlace(instance, event)
    const isGroup = chat.kind === 'group'
    if (fromMe) return { place, senderId: 'me', sender: await who('me'), isGroup, who }
    const record = await this.#know(instance, event.sender, event.pushName, group)
    return { place, senderId: record.id, sender: describe(record, event.sender, group), isGroup, who }
  }

  #groupPlace(instance: string, id: string): ChatContact {
    const fallbackName = `${this.#deps.groupWord} ${id}`
    const describeGroup = async (): Promise<ContactSpec> => {
      const group = await this.#deps.groups.find(instance, id)
      return groupSpec(id, group?.subject.trim() ? group.subject.trim() : fallbackName)
    }
    return { instance, chat: groupJid(id), describe: describeGroup, fallbackName, formerLid: null }
  }

  async #personPlace(instance: string, { chat, fromMe, pushName }: Envelope): Promise<ChatContact> {
    const person = chat.kind === 'person' ? chat : { phone: null, lid: null }
    const record = await this.#deps.people.upsert(instance, person, fromMe ? null : pushName)
    return {
      instance,
      chat: record.id,
      describe: () => Promise.resolve(personSpec(record)),
      fallbackName: contactName(strangerOf(record)),
      formerLid: record.phone === null ? null : record.lid,
    }
  }

  /** A group may know the phone number of somebody who wrote under an anonymous id. */
  async #know(instance: string, person: Person, pushName: string | null, group: KnownGroup | null) {
    const member = group?.memberOf(person)
    const whole = { phone: person.phone ?? member?.phone ?? null, lid: person.lid ?? member?.lid ?? null }
    return this.#deps.people.upsert(instance, whole, pushName)
  }

  async #who(instance: string, person: Person | 'me', group: KnownGroup | null): Promise<KnownPerson> {
    if (person === 'me') return strangerOf(this.#deps.ownPerson(instance))
    return describe(await this.#deps.people.lookUp(instance, person), person, group)
  }
}

function describe(record: PersonRecord | undefined, person: Person, group: KnownGroup | null): KnownPerson {
  const member = group?.memberOf(person)
  return {
    phone: record?.phone ?? person.phone ?? member?.phone ?? null,
    lid: record?.lid ?? person.lid ?? member?.lid ?? null,
    pushName: record?.pushName ?? member?.name ?? null,
    savedName: record?.savedName ?? null,
    redactedPhone: member?.redactedPhone ?? null,
  }
}
