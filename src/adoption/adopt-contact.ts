// Takes over one contact that another bridge made: its person or group, its address, its conversation and its messages.
//
// Each step may be made again. What is stored already stays as it is, so a second run changes nothing, and a conversation that a
// live message has chosen meanwhile stays the one of its chat.

import type { ConversationDirectory } from '../bridge/conversations/conversation-directory.ts'
import { groupSpec, personSpec } from '../bridge/conversations/contact-spec.ts'
import type { People } from '../bridge/people/people.ts'
import { groupChatId } from '../core/address.ts'
import type { Chat, Person } from '../core/address.ts'
import type { ContactSpec } from '../core/helpdesk/contact.ts'
import type { ListedConversation } from '../core/helpdesk/conversation.ts'
import type { ChatId, InstanceName } from '../core/ids.ts'
import type { BridgeForms } from '../core/other-bridges/bridge-contact.ts'
import { phoneVariants } from '../core/phone-variants.ts'
import type { ContactStore } from '../storage/stores/people/contact-store.ts'
import type { PersonRecord } from '../storage/stores/people/people-store.ts'
import type { MessageAdoption } from './adopt-messages.ts'
import type { JobInbox } from './helpdesk-questions.ts'
import type { InboxContact } from './read-inbox.ts'

type Deps = {
  people: Pick<People, 'lookUp' | 'upsert'>
  contacts: Pick<ContactStore, 'findContacts' | 'saveContact' | 'findConversation'>
  conversations: Pick<ConversationDirectory, 'adopt'>
  messages: Pick<MessageAdoption, 'run'>
  epoch: () => number
  modeOf: (instance: InstanceName) => 'new' | 'reopen'
}

export type AdoptionWork = {
  instance: InstanceName
  inbox: JobInbox
  forms: BridgeForms
  isDryRun: boolean
  /** The addresses of the contacts that were taken over before. */
  taken: Set<string>
}

/** `isNew`: something was taken over, or would be. */
export type ContactAdoption = { isNew: boolean; conversation: boolean; messages: number } | 'doubled'

type Place = { chat: Chat; chatId: ChatId | null; spec: ContactSpec }

export class ContactTakeOver {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Rejects with a DownstreamError when the helpdesk refuses something of this contact. */
  async run(of: InboxContact, chat: Chat, work: AdoptionWork): Promise<ContactAdoption> {
    if (!takeAddresses(work.taken, chat)) return 'doubled'
    const place = await this.#placeOf(chat, work)
    const address = await this.#address(of, place, work)
    if (address === 'taken') return 'doubled'
    const conversation = await this.#conversation(of, place, work)
    const { instance, inbox, forms, isDryRun } = work
    const adopted = { instance, chat, chatId: place.chatId }
    const messages = await this.#deps.messages.run(adopted, of.conversations, { inbox, forms, isDryRun })
    const isNew = address === 'added' || conversation === 'adopted' || messages > 0
    return { isNew, conversation: conversation !== 'none', messages }
  }

  async #placeOf(chat: Chat, { instance, isDryRun }: AdoptionWork): Promise<Place> {
    if (chat.kind === 'group') return { chat, chatId: groupChatId(chat.id), spec: groupSpec(chat.id, '') }
    const known = await this.#personOf(instance, chat)
    if (known) return { chat, chatId: known.id, spec: personSpec(known) }
    const { phone, lid } = chat
    if (!isDryRun) {
      const record = await this.#deps.people.upsert(instance, { phone, lid })
      return { chat, chatId: record.id, spec: personSpec(record) }
    }
    const nobody = { id: '', phone, lid, pushName: null, savedName: null, formerPhones: [] }
    return { chat, chatId: null, spec: personSpec(nobody) }
  }

  /** What the network has said of a person counts more than what the other bridge wrote. */
  async #personOf(instance: InstanceName, { phone, lid }: Person): Promise<PersonRecord | undefined> {
    const spellings = phone === null ? [] : phoneVariants(phone)
    for (const spelling of spellings) {
      const known = await this.#deps.people.lookUp(instance, { phone: spelling, lid: null })
      if (known) return known
    }
    return lid === null ? undefined : this.#deps.people.lookUp(instance, { phone: null, lid })
  }

  /** The contact gets our source id, unless it has it. */
  async #address({ contact }: InboxContact, { chat, spec }: Place, work: AdoptionWork) {
    const { contacts, epoch } = this.#deps
    const { inbox, forms, isDryRun } = work
    const known = await contacts.findContacts(inbox.destination, [spec.sourceId, ...spec.formerSourceIds])
    if (known.some(({ contactId }) => contactId === contact.id)) return 'there'
    if (known.length > 0) return 'taken'
    if (isDryRun) return 'added'
    if (!(await inbox.ask((helpdesk) => helpdesk.addAddress(contact.id, spec.sourceId)))) return 'taken'
    const { id: contactId, name } = contact
    // A name that the bridge made by itself may follow the person. Any other name counts as an agent's.
    const given = forms.isOwnName(name, chat) ? { givenName: name } : {}
    const saved = { sourceId: spec.sourceId, contactId, ours: false, name, ...given }
    await contacts.saveContact(epoch(), inbox.destination, saved)
    return 'added'
  }

  async #conversation({ contact, conversations }: InboxContact, { chatId, spec }: Place, work: AdoptionWork) {
    const { instance, isDryRun, inbox } = work
    const key = chatId === null ? null : { instance, chat: chatId, destination: inbox.destination }
    if (key && (await this.#deps.contacts.findConversation(key))) return 'there'
    const chosen = chooseConversation(conversations, this.#deps.modeOf(instance))
    if (!chosen) return 'none'
    if (isDryRun || chatId === null) return 'adopted'
    const known = { conversationId: chosen.id, contactId: contact.id, sourceId: spec.sourceId }
    const isAdopted = await this.#deps.conversations.adopt({ instance, chatId }, inbox.destination, known)
    return isAdopted ? 'adopted' : 'there'
  }
}

/** As for a live message: the newest that is not resolved, else by the mode the newest or none. Newest first. */
function chooseConversation(
  conversations: readonly ListedConversation[],
  mode: 'new' | 'reopen',
): ListedConversation | undefined {
  const usable = conversations.filter(({ isHistory }) => !isHistory)
  const open = usable.find(({ status }) => status !== 'resolved')
  return open ?? usable.find(({ isBlocked }) => mode === 'reopen' || isBlocked)
}

/** False when a contact before stands for the same chat. */
function takeAddresses(taken: Set<string>, chat: Chat): boolean {
  const addresses = chat.kind === 'group' ? [`group-${chat.id}`] : addressesOf(chat)
  if (addresses.some((address) => taken.has(address))) return false
  for (const address of addresses) taken.add(address)
  return true
}

function addressesOf({ phone, lid }: Person): string[] {
  return [...(phone === null ? [] : phoneVariants(phone)), ...(lid === null ? [] : [`lid-${lid}`])]
}
