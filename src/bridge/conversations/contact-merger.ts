// Makes one contact of two at the helpdesk, when a person with an anonymous id turns out to have a phone number. Gives a contact
// the new phone number of its person.

import { lidJid } from '../../core/address.ts'
import { DownstreamError } from '../../core/downstream.ts'
import type { ContactSpec } from '../../core/helpdesk/contact.ts'
import type { HoldOf } from '../../core/nodes/hold.ts'
import type { Log } from '../../lib/log.ts'
import type { ContactStore, KnownContact } from '../../storage/stores/people/contact-store.ts'
import type { ContactJoin } from './contact-join.ts'
import { lidSourceId, lidSpec } from './contact-spec.ts'
import type { HelpdeskTarget } from './conversation-opener.ts'

type Deps = { store: ContactStore; join: Pick<ContactJoin, 'join' | 'note'>; holdOf: HoldOf; log: Log }
type Target = Pick<HelpdeskTarget, 'instance' | 'destination' | 'helpdesk'>
/** The addresses under which the same person may have another contact. */
type FormerAddresses = { lid: string; phones: readonly string[] }

export class ContactMerger {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Gives the phone number to the contact of the anonymous id, or merges that contact into the one with the number. */
  async merge(spec: ContactSpec, { lid, phones }: FormerAddresses, target: Target): Promise<void> {
    const { store } = this.#deps
    const known = await store.findContacts(target.destination.key, [spec.sourceId, lidSourceId(lid), ...phones])
    const byLid = known.find(({ sourceId }) => sourceId === lidSourceId(lid))
    const byPhone = known.find(({ sourceId }) => sourceId === spec.sourceId)
    const byFormer = known.find(({ sourceId, ours }) => ours && phones.includes(sourceId))
    if (byFormer && !byLid && !byPhone) await this.#renumber(spec, byFormer, phones, target)
    if (!byLid || byPhone?.contactId === byLid.contactId) return
    if (byPhone || !(await this.#takesPhone(spec, byLid, target))) await this.#mergeTwo(spec, byLid, lid, target)
  }

  /** A contact that we created shows the new number, unless an agent has given it another one. */
  async #renumber(spec: ContactSpec, known: KnownContact, phones: readonly string[], target: Target): Promise<void> {
    const { store, holdOf } = this.#deps
    const { phone } = await target.helpdesk.ensureContact(spec, { isKnown: true })
    if (phones.some((each) => phone === `+${each}`)) await this.#takesPhone(spec, known, target)
    else await store.saveContact(holdOf(target.instance), target.destination.key, { ...known, sourceId: spec.sourceId })
  }

  /** False when another contact has the number. */
  async #takesPhone(spec: ContactSpec, byLid: KnownContact, target: Target) {
    const { store, holdOf } = this.#deps
    const { instance, helpdesk } = target
    const { key } = target.destination
    const phone = spec.phone ?? ''
    try {
      await helpdesk.updateContact(byLid.contactId, { phone, identifier: spec.identifier })
    } catch (error) {
      if (!(error instanceof DownstreamError)) throw error
      if (error.failure === 'gone') {
        await store.dropContact(holdOf(instance), key, byLid.sourceId)
        return true
      }
      if (error.status !== 422) throw error
      return false
    }
    await store.saveContact(holdOf(instance), key, { ...byLid, sourceId: spec.sourceId })
    return true
  }

  /** Merges only a contact that we created and that is in no other helpdesk inbox. */
  async #mergeTwo(spec: ContactSpec, byLid: KnownContact, lid: string, target: Target): Promise<void> {
    const { store, join, holdOf, log } = this.#deps
    const { instance } = target
    const { key } = target.destination
    const withoutLid = {
      ...spec,
      formerSourceIds: spec.formerSourceIds.filter((each) => each !== byLid.sourceId),
      identifiers: spec.identifiers.filter((each) => each !== lidJid(lid)),
    }
    const keep = await target.helpdesk.ensureContact(withoutLid, { isKnown: true })
    const drop = await target.helpdesk.ensureContact(lidSpec(lid, byLid.name), { isKnown: true })
    const mayMerge = drop.id === byLid.contactId && byLid.ours && !drop.elsewhere && keep.id !== drop.id
    if (mayMerge) await join.join({ keep: keep.id, drop: { id: drop.id, sourceIds: [drop.sourceId] } }, target)
    // The helpdesk merged them in an earlier attempt, whose answer was lost.
    if (keep.id === drop.id) await join.note(instance, key, { keep: keep.id, drop: byLid.contactId })
    log.info({ destination: key, contact: keep.id, other: drop.id, merged: mayMerge }, 'two contacts are one person')
    const { id: contactId, sourceId, created: ours, name } = keep
    await store.saveContact(holdOf(instance), key, { sourceId, contactId, ours, name, givenName: ours ? name : null })
  }
}
