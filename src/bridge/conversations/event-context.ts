// Says who wrote an event and to which chat the event belongs.

import { groupChatId, groupIdOf } from '../../core/address.ts'
import type { Chat, Person } from '../../core/address.ts'
import type { ContactSpec } from '../../core/helpdesk/contact.ts'
import type { ChatId, InstanceName } from '../../core/ids.ts'
import type { Envelope } from '../../core/message.ts'
import type { PersonRecord } from '../../storage/stores/people/people-store.ts'
import { groupSpec, personSpec } from './contact-spec.ts'
import type { GroupDirectory, KnownGroup } from '../people/group-directory.ts'
import type { ChatContact } from './conversation-directory.ts'
import { contactName, strangerOf } from '../people/names.ts'
import type { KnownPerson } from '../people/names.ts'
import type { People } from '../people/people.ts'

type Deps = {
  people: Pick<People, 'upsert' | 'lookUp' | 'isCurrent'>
  groups: Pick<GroupDirectory, 'find'>
  /** The word that names a group whose subject is not known. */
  groupWord: (instance: InstanceName) => string
  ownPerson: (instance: InstanceName) => Person
}

/** The chat of an event, resolved when the event was queued. `person` is null for a group. */
export type EventChat = { chatId: ChatId; person: PersonRecord | null }

/** The people and the chat of an event. */
export type EventContext = {
  chat: ChatContact
  /** The id of a person record, or `me`. */
  senderId: string
  sender: KnownPerson
  isGroup: boolean
  /** What is known of another person; `me` is the account itself. */
  who: (person: Person | 'me') => Promise<KnownPerson>
}

export class EventContexts {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** One chat per group, and one per person under whichever address the person writes. */
  async chatOf(instance: InstanceName, event: Envelope): Promise<EventChat> {
    if (event.chat.kind === 'group') return { chatId: groupChatId(event.chat.id), person: null }
    const person = await this.#partner(instance, event, event.chat)
    return { chatId: person.id, person }
  }

  /** The chat without an event. Null for a person whom we do not know: nothing is stored. */
  async knownChat(instance: InstanceName, chat: Chat): Promise<ChatContact | null> {
    if (chat.kind === 'group') return this.#groupContact(instance, chat.id)
    const person = await this.#deps.people.lookUp(instance, chat)
    return person ? personContact(instance, person) : null
  }

  /** Uses the person of `known`, unless the record of that person was changed or merged meanwhile. */
  async contextOf(instance: InstanceName, event: Envelope, known: EventChat | null): Promise<EventContext> {
    const { chat } = event
    if (chat.kind === 'group') return this.#groupContext(instance, event, chat.id)
    const person = known?.person ?? null
    const isCurrent = person !== null && this.#deps.people.isCurrent(instance, person)
    return this.#personContext(instance, event, isCurrent ? person : await this.#partner(instance, event, chat))
  }

  /** What messages in this chat show of a person; null when the network must be asked for that and does not answer. */
  async knownIn(instance: InstanceName, person: PersonRecord, chatId: ChatId): Promise<KnownPerson | null> {
    const groupId = groupIdOf(chatId)
    // Only the group tells of a person who hides the phone number, or who has no name.
    const isEnough = person.phone !== null && (person.pushName ?? person.savedName) !== null
    if (groupId === null || isEnough) return describe(person, person, null)
    const group = await this.#deps.groups.find(instance, groupId)
    return group && describe(person, person, group)
  }

  async #groupContext(instance: InstanceName, event: Envelope, groupId: string): Promise<EventContext> {
    const group = await this.#deps.groups.find(instance, groupId)
    const chat = this.#groupContact(instance, groupId)
    const who = (person: Person | 'me') => this.#who(instance, person, group)
    if (event.fromMe) return { chat, senderId: 'me', sender: await who('me'), isGroup: true, who }
    const record = await this.#groupMember(instance, event, group)
    return { chat, senderId: record.id, sender: describe(record, event.sender, group), isGroup: true, who }
  }

  async #personContext(instance: InstanceName, event: Envelope, partner: PersonRecord): Promise<EventContext> {
    const chat = personContact(instance, partner)
    const who = (person: Person | 'me') => this.#who(instance, person, null)
    if (event.fromMe) return { chat, senderId: 'me', sender: await who('me'), isGroup: false, who }
    const { sender, pushName } = event
    const isPartner = hasAddressesOf(partner, sender)
    const record = isPartner ? partner : await this.#deps.people.upsert(instance, sender, pushName)
    return { chat, senderId: record.id, sender: describe(record, sender, null), isGroup: false, who }
  }

  /** The other person of a chat of two. */
  #partner(instance: InstanceName, { fromMe, pushName }: Envelope, chat: Person): Promise<PersonRecord> {
    return this.#deps.people.upsert(instance, chat, fromMe ? null : pushName)
  }

  #groupContact(instance: InstanceName, groupId: string): ChatContact {
    const fallbackName = `${this.#deps.groupWord(instance)} ${groupId}`
    const describeGroup = async (): Promise<ContactSpec> => {
      const group = await this.#deps.groups.find(instance, groupId)
      return groupSpec(groupId, group?.subject.trim() ? group.subject.trim() : fallbackName)
    }
    return {
      instance,
      chatId: groupChatId(groupId),
      describe: describeGroup,
      fallbackName,
      formerLid: null,
      formerPhones: [],
    }
  }

  /** The group may know the phone number of a member who writes under an anonymous id. */
  #groupMember(instance: InstanceName, { sender, pushName }: Envelope, group: KnownGroup | null) {
    const member = group?.memberOf(sender)
    const whole = { phone: sender.phone ?? member?.phone ?? null, lid: sender.lid ?? member?.lid ?? null }
    return this.#deps.people.upsert(instance, whole, pushName)
  }

  async #who(instance: InstanceName, person: Person | 'me', group: KnownGroup | null): Promise<KnownPerson> {
    if (person === 'me') return strangerOf(this.#deps.ownPerson(instance))
    return describe(await this.#deps.people.lookUp(instance, person), person, group)
  }
}

function personContact(instance: InstanceName, record: PersonRecord): ChatContact {
  return {
    instance,
    chatId: record.id,
    describe: () => Promise.resolve(personSpec(record)),
    fallbackName: contactName(strangerOf(record)),
    formerLid: record.phone === null ? null : record.lid,
    formerPhones: record.formerPhones,
  }
}

function hasAddressesOf(record: PersonRecord, { phone, lid }: Person): boolean {
  return (phone === null || phone === record.phone) && (lid === null || lid === record.lid)
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
