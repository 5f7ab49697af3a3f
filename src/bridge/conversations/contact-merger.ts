// A person who was known by an anonymous id only has told a phone number: one person is one contact.

import { lidJid } from '../../core/address.ts'
import { DownstreamError } from '../../core/downstream.ts'
import type { ContactSpec, Destination, HelpdeskInbox } from '../../core/downstream.ts'
import type { Log } from '../../lib/log.ts'
import type { ContactStore, KnownContact } from '../../storage/stores/people/contact-store.ts'
import { lidSourceId, lidSpec } from './contact-spec.ts'

type Deps = { store: ContactStore; epoch: () => number; log: Log }

export class ContactMerger {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Gives the contact of the anonymous id the phone number, or merges it with the contact that has it. */
  async join(spec: ContactSpec, lid: string, destination: Destination, inbox: HelpdeskInbox): Promise<void> {
    const { store } = this.#deps
    const known = await store.findContacts(destination.key, [spec.sourceId, lidSourceId(lid)])
    const byLid = known.find(({ sourceId }) => sourceId === lidSourceId(lid))
    const byPhone = known.find(({ sourceId }) => sourceId === spec.sourceId)
    if (!byLid || byPhone?.contactId === byLid.contactId) return
    if (byPhone || !(await this.#takesPhone(spec, byLid, destination, inbox))) {
      await this.#merge(spec, byLid, lid, destination, inbox)
    }
  }

  /** False when another contact has the number. */
  async #takesPhone(spec: ContactSpec, byLid: KnownContact, { key }: Destination, inbox: HelpdeskInbox) {
    const { store, epoch } = this.#deps
    const phone = spec.phone ?? ''
    try {
      await inbox.updateContact(byLid.contactId, { phone, identifier: spec.identifier })
    } catch (error) {
      if (!(error instanceof DownstreamError)) throw error
      if (error.failure === 'gone') {
        await store.dropContact(epoch(), key, byLid.sourceId)
        return true
      }
      if (error.status !== 422) throw error
      return false
    }
    await store.saveContact(epoch(), key, { ...byLid, sourceId: spec.sourceId })
    return true
  }

  /** Only a contact that we created and nobody uses elsewhere goes up in another one. */
  async #merge(spec: ContactSpec, byLid: KnownContact, lid: string, { key }: Destination, inbox: HelpdeskInbox) {
    const { store, epoch, log } = this.#deps
    const withoutLid = {
      ...spec,
      formerSourceIds: spec.formerSourceIds.filter((each) => each !== byLid.sourceId),
      identifiers: spec.identifiers.filter((each) => each !== lidJid(lid)),
    }
    const keep = await inbox.ensureContact(withoutLid)
    const drop = await inbox.ensureContact(lidSpec(lid, byLid.name))
    const mayMerge = drop.id === byLid.contactId && byLid.ours && !drop.elsewhere && keep.id !== drop.id
    if (mayMerge) {
      await inbox.mergeContacts({ keep: keep.id, drop: drop.id })
      await store.mergeContacts(epoch(), key, { keep: keep.id, drop: drop.id })
    }
    // Merged before, and nobody heard the answer.
    if (keep.id === drop.id) await store.mergeContacts(epoch(), key, { keep: keep.id, drop: byLid.contactId })
    log.info({ destination: key, contact: keep.id, other: drop.id, merged: mayMerge }, 'two contacts are one person')
    const { id: contactId, sourceId, created: ours, name } = keep
    await store.saveContact(epoch(), key, { sourceId, contactId, ours, name })
  }
}
