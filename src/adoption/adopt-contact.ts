// Takes over one contact that another bridge made: its person or group, its address, its conversation and its messages.
//
// Each step may be made again. What is stored already stays as it is, so a second run changes nothing, and a conversation that a
// live message has chosen meanwhile stays the one of its chat.

import type { ConversationDirectory } from '../bridge/conversations/conversation-directory.ts'
import { groupSpec, lidSourceId, personSpec } from '../bridge/conversations/contact-spec.ts'
import type { People } from '../bridge/people/people.ts'
import { groupChatId } from '../core/address.ts'
import type { Chat, Person } from '../core/address.ts'
import type { ContactSpec } from '../core/helpdesk/contact.ts'
import type { ListedConversation } from '../core/helpdesk/conversation.ts'
import type { ChatId, InstanceName } from '../core/ids.ts'
import type { BridgeForms } from '../core/other-bridges/bridge-contact.ts'
import { phoneVariants } from '../core/phone-variants.ts'
import type { HoldOf } from '../core/nodes/hold.ts'
import { KeyedLanes } from '../lib/queues/keyed-lanes.ts'
import type { ContactStore, ConversationKey } from '../storage/stores/people/contact-store.ts'
import type { PersonRecord } from '../storage/stores/people/people-store.ts'
import type { MessageAdoption } from './adopt-messages.ts'
import type { JobInbox } from './helpdesk-questions.ts'
import type { InboxContact } from './read-inbox.ts'

type Deps = {
  people: Pick<People, 'lookUp' | 'upsert'>
  contacts: Pick<ContactStore, 'findContacts' | 'saveContact' | 'findConversation' | 'excludedConversations'>
  conversations: Pick<ConversationDirectory, 'adopt'>
  messages: Pick<MessageAdoption, 'run'>
  holdOf: HoldOf
  modeOf: (instance: InstanceName) => 'new' | 'reopen'
}

export type AdoptionWork = {
  instance: InstanceName
  inbox: JobInbox
  forms: BridgeForms
  isDryRun: boolean
  /** The addresses of the chats for which a contact was found before. */
  taken: Set<string>
}

/** `isNew`: something was taken over, or would be. */
export type ContactAdoption = { isNew: boolean; conversation: boolean; messages: number } | 'doubled'

type Place = { chat: Chat; chatId: ChatId | null; spec: ContactSpec }

export class ContactTakeOver {
  readonly #deps: Deps
  readonly #lanes = new KeyedLanes()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Rejects with a DownstreamError when the helpdesk refuses something of this contact. */
  async run(of: InboxContact, chat: Chat, work: AdoptionWork): Promise<ContactAdoption> {
    const place = await this.#placeOf(chat, work)
    const addresses = addressesOf(place)
    if (addresses.some((each) => work.taken.has(each))) return 'doubled'
    const address = await this.#address(of, place, work)
    if (address === 'taken') return 'doubled'
    for (const each of addresses) work.taken.add(each)
    const { instance, inbox, forms, isDryRun } = work
    const { conversations, conversation } = await this.#conversation(of, place, work)
    const adopted = { instance, chat, chatId: place.chatId }
    const messages = await this.#deps.messages.run(adopted, conversations, { inbox, forms, isDryRun })
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
    const { contacts, holdOf } = this.#deps
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
    await contacts.saveContact(holdOf(work.instance), inbox.destination, saved)
    return 'added'
  }

  /**
   * Chooses the conversation of the chat. `conversations` are those that another account does not use. Accounts that share a
   * helpdesk inbox may have the same customer: in a lane each of them sees what the others have chosen.
   */
  #conversation(of: InboxContact, place: Place, work: AdoptionWork) {
    const { destination } = work.inbox
    return this.#lanes.run(`${destination}|${place.spec.sourceId}`, async () => {
      // A person without a record has no rows under any id.
      const key = { instance: work.instance, destination, chat: place.chatId ?? '' }
      const others = await this.#deps.contacts.excludedConversations(key, place.spec.sourceId)
      const conversations = of.conversations.filter(({ id }) => !others.includes(id))
      const conversation = await this.#choose({ ...of, conversations }, place, key, work.isDryRun)
      return { conversations, conversation }
    })
  }

  async #choose(of: InboxContact, { chatId, spec }: Place, key: ConversationKey, isDryRun: boolean) {
    const { contacts, conversations, modeOf } = this.#deps
    if (await contacts.findConversation(key)) return 'there'
    const chosen = chooseConversation(of.conversations, modeOf(key.instance))
    if (!chosen) return 'none'
    if (isDryRun || chatId === null) return 'adopted'
    const known = { conversationId: chosen.id, contactId: of.contact.id, sourceId: spec.sourceId }
    const isAdopted = await conversations.adopt({ instance: key.instance, chatId }, key.destination, known)
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

/** All addresses under which the chat may be known. Two contacts with one of them stand for the same chat. */
function addressesOf({ chat, spec }: Place): string[] {
  const written = chat.kind === 'group' ? [] : addressesOfPerson(chat)
  return [spec.sourceId, ...spec.formerSourceIds, ...written]
}

function addressesOfPerson({ phone, lid }: Person): string[] {
  return [...(phone === null ? [] : phoneVariants(phone)), ...(lid === null ? [] : [lidSourceId(lid)])]
}
