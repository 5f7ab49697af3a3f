// Brings what the helpdesk shows of a person or a group up to date: the name of the contact, and the headers of earlier messages.

import type { Destination, HelpdeskInbox } from '../../../core/downstream.ts'
import type { ContactSpec } from '../../../core/helpdesk/contact.ts'
import type { ChatId, InstanceName } from '../../../core/ids.ts'
import { KeyedLanes } from '../../../lib/queues/keyed-lanes.ts'
import type { ContactStore, KnownContact } from '../../../storage/stores/people/contact-store.ts'
import type { PersonRecord } from '../../../storage/stores/people/people-store.ts'
import { isSameName } from '../../conversations/contact-names.ts'
import type { ContactNames, Renaming } from '../../conversations/contact-names.ts'
import type { ChatContact } from '../../conversations/conversation-directory.ts'
import { personSpec } from '../../conversations/contact-spec.ts'
import { contactName, pushNameOf, savedNameOf, strangerOf } from '../../people/names.ts'
import type { PersonalNames } from '../../people/names.ts'
import type { People } from '../../people/people.ts'
import { bestName } from './best-name.ts'
import type { HeaderRewriter, Rewritten } from './header-rewriter.ts'

type Deps = {
  people: Pick<People, 'ofId'>
  contacts: Pick<ContactStore, 'peopleOf'>
  names: Pick<ContactNames, 'find' | 'rename'>
  headers: Pick<HeaderRewriter, 'rewrite'>
}

export type NameTarget = {
  instance: InstanceName
  destination: Destination
  helpdesk: Pick<HelpdeskInbox, 'findContact' | 'updateContact'>
}

/** `no_contact` also stands for a contact that has the name of an agent: none of our contacts is left. */
export type NameOutcome = {
  result: 'ok' | 'duplicate' | 'skip_empty_name' | 'no_contact'
  /** Whether the helpdesk shows anything of the person: a contact, named by us or not, or messages with a header. */
  isShown: boolean
  /** Contacts that were renamed. */
  renamed: number
  /** Messages whose header was rewritten. */
  rewritten: number
}

const unchanged = { renamed: 0, rewritten: 0 }
const noHeaders: Rewritten = { tracked: 0, rewritten: 0 }

export class NameUpdate {
  readonly #deps: Deps
  readonly #lanes = new KeyedLanes()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** `before` are names that the person had until now. Rejects when the helpdesk or its database fails. */
  person(
    instance: InstanceName,
    { id, before = [] }: { id: ChatId; before?: readonly PersonalNames[] },
    target: NameTarget,
  ): Promise<NameOutcome> {
    // In a lane, with the names that the person has by then. Otherwise an older name could be written last.
    return this.#lanes.run(`${instance}|${id}`, async () => {
      const person = await this.#deps.people.ofId(instance, id)
      if (!person) return { result: 'no_contact', isShown: false, ...unchanged }
      return this.#person(instance, { person, before }, target)
    })
  }

  async #person(
    instance: InstanceName,
    { person, before }: { person: PersonRecord; before: readonly PersonalNames[] },
    target: NameTarget,
  ): Promise<NameOutcome> {
    const { ours, isAny } = await this.#contactsOf(person, before, target)
    if (!hasName(person)) return { result: 'skip_empty_name', isShown: isAny, ...unchanged }
    // A failure of the one does not keep the other from being done.
    const [contacts, headers] = await Promise.allSettled([
      this.#renameAll(instance, { person, ours }, target),
      this.#deps.headers.rewrite(instance, person, target.destination),
    ])
    if (contacts.status === 'rejected') throw contacts.reason
    if (headers.status === 'rejected') throw headers.reason
    return outcomeOf(isAny, contacts.value, headers.value)
  }

  /** A group has the name that the network tells. */
  async group(chat: ChatContact, target: NameTarget): Promise<NameOutcome> {
    const spec = await chat.describe()
    if (spec.name === chat.fallbackName) return { result: 'skip_empty_name', isShown: false, ...unchanged }
    const { ours, isAny } = await this.#deps.names.find(target.destination.key, addressesOf(spec), () => true)
    const renamings: Renaming[] = []
    for (const contact of ours) renamings.push(await this.#deps.names.rename(contact, spec.name, target))
    return outcomeOf(isAny, renamings, noHeaders)
  }

  #contactsOf(person: PersonRecord, before: readonly PersonalNames[], { destination }: NameTarget) {
    const former = [person, ...before].flatMap((each) => [savedNameOf(each) ?? [], pushNameOf(each) ?? []].flat())
    const mayBeOurs = (name: string) =>
      [contactName(strangerOf(person)), ...former].some((each) => isSameName(each, name))
    return this.#deps.names.find(destination.key, addressesOf(personSpec(person)), mayBeOurs)
  }

  async #renameAll(
    instance: InstanceName,
    { person, ours }: { person: PersonRecord; ours: readonly KnownContact[] },
    target: NameTarget,
  ): Promise<Renaming[]> {
    const { contacts, names } = this.#deps
    const renamings: Renaming[] = []
    for (const contact of ours) {
      const everybody = await contacts.peopleOf(target.destination.key, contact.contactId)
      const others = everybody.filter((each) => each.instance !== instance)
      const name = bestName(person, others, contact.givenName ?? contact.name)
      if (name !== null) renamings.push(await names.rename(contact, name, target))
    }
    return renamings
  }
}

function hasName(person: PersonalNames): boolean {
  return savedNameOf(person) !== null || pushNameOf(person) !== null
}

function addressesOf({ sourceId, formerSourceIds }: ContactSpec): string[] {
  return [sourceId, ...formerSourceIds]
}

function outcomeOf(isAny: boolean, renamings: readonly Renaming[], { tracked, rewritten }: Rewritten): NameOutcome {
  const renamed = renamings.filter((each) => each === 'renamed').length
  const isShown = isAny || tracked > 0
  if (renamed + rewritten > 0) return { result: 'ok', isShown, renamed, rewritten }
  const isThere = tracked > 0 || renamings.includes('same')
  return { result: isThere ? 'duplicate' : 'no_contact', isShown, renamed, rewritten }
}
