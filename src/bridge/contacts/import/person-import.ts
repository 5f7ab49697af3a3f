// Makes one person of the address book known to the helpdesk: the contact gets the name of the person, or is created.

import type { Chat, Person } from '../../../core/address.ts'
import type { Destination } from '../../../core/downstream.ts'
import type { ChatId, InstanceName } from '../../../core/ids.ts'
import type { ContactsImportParams } from '../../../core/jobs/contacts-jobs.ts'
import type { ContactStore } from '../../../storage/stores/people/contact-store.ts'
import type { PersonRecord } from '../../../storage/stores/people/people-store.ts'
import { personSpec } from '../../conversations/contact-spec.ts'
import type { ConversationOpener } from '../../conversations/conversation-opener.ts'
import { pushNameOf, savedNameOf } from '../../people/names.ts'
import type { People } from '../../people/people.ts'
import type { NameUpdate } from '../../sync/names/name-update.ts'
import type { PacedInbox } from './paced-inbox.ts'

type Deps = {
  people: Pick<People, 'ofId'>
  contacts: Pick<ContactStore, 'findContacts'>
  names: Pick<NameUpdate, 'person'>
  opener: Pick<ConversationOpener, 'contactOf'>
  /** Contacts do not follow the names of their people when this is false. */
  renames: boolean
  ownPerson: (instance: InstanceName) => Person
  isIgnored: (instance: InstanceName, chat: Chat) => boolean
}

type PersonToImport = { instance: InstanceName; id: ChatId; params: ContactsImportParams }
type Target = { instance: InstanceName; destination: Destination; helpdesk: PacedInbox }

/** skipped: there is nothing to change, or nothing may be changed. */
export type PersonOutcome = 'renamed' | 'created' | 'skipped'

export class PersonImport {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Asks the helpdesk only if something may have to be changed there. A repetition changes nothing. */
  async run({ instance, id, params }: PersonToImport, target: Target): Promise<PersonOutcome> {
    const { people, contacts, names, opener, renames } = this.#deps
    const person = await people.ofId(instance, id)
    if (!person || !this.#isMeant(instance, person, params)) return 'skipped'
    const spec = personSpec(person)
    const known = await contacts.findContacts(target.destination.key, [spec.sourceId, ...spec.formerSourceIds])
    if (known.length > 0) {
      const { renamed } = renames ? await names.person(instance, { id }, target) : { renamed: 0 }
      return renamed > 0 ? 'renamed' : 'skipped'
    }
    if (!params.create) return 'skipped'
    const { created } = await opener.contactOf(spec, target)
    return created ? 'created' : 'skipped'
  }

  #isMeant(instance: InstanceName, person: PersonRecord, { only }: ContactsImportParams): boolean {
    const { phone, lid } = person
    if (phone === null && lid === null) return false
    const name = savedNameOf(person) ?? (only === 'saved' ? null : pushNameOf(person))
    if (name === null || this.#isOwn(instance, person)) return false
    return !this.#deps.isIgnored(instance, { kind: 'person', phone, lid })
  }

  /** People save their own number, too. */
  #isOwn(instance: InstanceName, { phone, lid }: Person): boolean {
    const own = this.#deps.ownPerson(instance)
    return (phone !== null && phone === own.phone) || (lid !== null && lid === own.lid)
  }
}
