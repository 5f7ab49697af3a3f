// Gives contacts another name. A contact keeps its name if an agent or a CRM wrote it.
//
// A name is ours if the contact still has the name that we stored when we wrote it. Chatwoot has no conditional update. An agent
// who renames the contact in the moment between our look and our PATCH is overwritten.

import type { HelpdeskInbox } from '../../core/downstream.ts'
import type { DestinationKey, InstanceName } from '../../core/ids.ts'
import type { HoldOf } from '../../core/nodes/hold.ts'
import { KeyedLanes } from '../../lib/queues/keyed-lanes.ts'
import { beginningOf } from '../../lib/text/beginning-of.ts'
import type { ContactStore, KnownContact } from '../../storage/stores/people/contact-store.ts'

type Deps = { store: ContactStore; holdOf: HoldOf }

type Target = {
  /** The instance for which a contact is renamed. */
  instance: InstanceName
  destination: { key: DestinationKey }
  helpdesk: Pick<HelpdeskInbox, 'findContact' | 'updateContact'>
}

/**
 * renamed  the contact has the name now
 * same     the contact had the name already
 * kept     the contact has a name that is not ours
 * gone     the contact does not exist any more
 */
export type Renaming = 'renamed' | 'same' | 'kept' | 'gone'

/** `ours` are the contacts that we named, one entry each. `isAny` says whether there are contacts, named by us or not. */
export type FoundContacts = { ours: readonly KnownContact[]; isAny: boolean }

/** Chatwoot takes no longer name. */
const longestName = 255

export class ContactNames {
  readonly #deps: Deps
  readonly #lanes = new KeyedLanes()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /**
   * The contacts under these addresses. `mayBeOurs` judges the name of a contact that we created before given names were
   * stored: an agent may have renamed it since.
   */
  async find(
    destination: DestinationKey,
    sourceIds: readonly string[],
    mayBeOurs: (name: string) => boolean,
  ): Promise<FoundContacts> {
    const known = await this.#deps.store.findContacts(destination, sourceIds)
    const named = known.filter(({ givenName, ours, name }) => givenName !== null || (ours && mayBeOurs(name)))
    const ours = new Map(named.map((contact) => [contact.contactId, contact]))
    return { isAny: known.length > 0, ours: [...ours.values()] }
  }

  /** Renames a contact that we named. */
  rename(contact: KnownContact, name: string, target: Target): Promise<Renaming> {
    const { contactId } = contact
    return this.#lanes.run(`${target.destination.key}|${contactId}`, () => this.#rename(contact, name, target))
  }

  async #rename(found: KnownContact, name: string, { instance, destination, helpdesk }: Target): Promise<Renaming> {
    const { store, holdOf } = this.#deps
    const { contactId } = found
    // Another caller may have renamed the contact since it was found.
    const [known = found] = await store.findContacts(destination.key, [found.sourceId])
    const ours = [known.givenName ?? known.name, known.renamingTo ?? []].flat()
    if (known.renamingTo === null && isSameName(known.givenName ?? known.name, name)) return 'same'
    const shown = await helpdesk.findContact(contactId)
    if (!shown) return 'gone'
    if (!ours.some((each) => isSameName(each, shown.name))) return 'kept'
    const isThere = isSameName(shown.name, name)
    if (!isThere) {
      await store.beginRename(holdOf(instance), destination.key, contactId, { from: shown.name, to: name })
      await helpdesk.updateContact(contactId, { name })
    }
    await store.endRename(holdOf(instance), destination.key, contactId, name)
    return isThere ? 'same' : 'renamed'
  }
}

/** Whether the helpdesk shows both names alike. */
export function isSameName(one: string, other: string): boolean {
  return normal(one) === normal(other)
}

function normal(name: string): string {
  return beginningOf(name, longestName).trim()
}
