// Finds the contact of a chat among the contacts that we know at a destination.

import type { Chat } from '../../../core/address.ts'
import type { DestinationKey, InstanceName } from '../../../core/ids.ts'
import type { ContactStore } from '../../../storage/stores/people/contact-store.ts'
import { groupSpec, personSpec } from '../../conversations/contact-spec.ts'
import type { People } from '../../people/people.ts'

type Deps = { people: Pick<People, 'lookUp'>; contacts: Pick<ContactStore, 'findContacts'> }

export class AvatarContacts {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Null when the chat has no contact there. */
  async find(instance: InstanceName, chat: Chat, destination: DestinationKey): Promise<number | null> {
    const spec = await this.#specOf(instance, chat)
    if (!spec) return null
    const { sourceId, formerSourceIds } = spec
    const found = await this.#deps.contacts.findContacts(destination, [sourceId, ...formerSourceIds])
    const best = found.find((contact) => contact.sourceId === sourceId) ?? found[0]
    return best?.contactId ?? null
  }

  async #specOf(instance: InstanceName, chat: Chat) {
    if (chat.kind === 'group') return groupSpec(chat.id, '')
    const record = await this.#deps.people.lookUp(instance, chat)
    return record && personSpec(record)
  }
}
