// Knows which addresses belong to the same person. Every phone number and anonymous id leads to one record; two records
// that turn out to be one person are merged. Reads from memory where possible.

import type { Person } from '../../core/address.ts'
import type { ChatId, InstanceName } from '../../core/ids.ts'
import type { PersonNames } from '../../core/network.ts'
import type { PerInstance } from '../../core/per-instance.ts'
import { BoundedMap } from '../../lib/bounded-map.ts'
import type { Clock } from '../../lib/clock.ts'
import { KeyedLanes } from '../../lib/keyed-lanes.ts'
import type { PeopleStore, PersonChanges, PersonRecord } from '../../storage/stores/people/people-store.ts'

/** The ids of two person records that became one. */
export type MergedPeople = { keep: ChatId; drop: ChatId }

type Deps = {
  store: PeopleStore
  epoch: () => number
  newId: () => ChatId
  clock: Clock
  /** Called after two records have become one. */
  onMerged: (instance: InstanceName, ids: MergedPeople) => void
}

const maxCached = 50_000
const cachedMs = 3_600_000
/** Stands for a person of whom no address is known. */
const unknownPerson: PersonRecord = { id: 'nobody', phone: null, lid: null, pushName: null, savedName: null }

export class People implements PerInstance {
  readonly #deps: Deps
  readonly #cache: BoundedMap<PersonRecord>
  readonly #lanes = new KeyedLanes()

  constructor(deps: Deps) {
    this.#deps = deps
    this.#cache = new BoundedMap({ clock: deps.clock, max: maxCached, ttlMs: cachedMs })
  }

  /** The record of this person. Stores what the arguments add to the record. */
  async upsert(instance: InstanceName, person: Person, pushName: string | null = null): Promise<PersonRecord> {
    if (person.phone === null && person.lid === null) return unknownPerson
    const cached = this.#cached(instance, person)
    if (cached && tellsNothingNew(cached, person, pushName)) return cached
    return this.#lanes.run(instance, () => this.#learn(instance, person, pushName))
  }

  /** The record if there is one. A person who is only mentioned gets no record. */
  async lookUp(instance: InstanceName, person: Person): Promise<PersonRecord | undefined> {
    if (person.phone === null && person.lid === null) return undefined
    return this.#cached(instance, person) ?? this.#lanes.run(instance, () => this.#find(instance, person))
  }

  /** False when the record was changed, merged or forgotten since the caller got it. */
  isCurrent(instance: InstanceName, record: PersonRecord): boolean {
    return record === unknownPerson || this.#cached(instance, record) === record
  }

  /** Stores names from the address book or a profile. Only a saved name creates a record. */
  async applyNames(instance: InstanceName, names: PersonNames): Promise<void> {
    const { phone, lid } = names.person
    if (phone !== null || lid !== null) await this.#lanes.run(instance, () => this.#rename(instance, names))
  }

  leave(instance: InstanceName): void {
    this.#cache.deleteWhere((key) => key.startsWith(`${instance}|`))
  }

  async #rename(instance: InstanceName, { person, pushName, savedName }: PersonNames): Promise<void> {
    const known = await this.#find(instance, person)
    if (!known && (savedName === undefined || savedName === null)) return
    const record = known ?? (await this.#learn(instance, person, null))
    const changes = {
      ...(pushName !== undefined && pushName !== record.pushName && { pushName }),
      ...(savedName !== undefined && savedName !== record.savedName && { savedName }),
    }
    if (Object.keys(changes).length === 0) return
    await this.#deps.store.update(this.#deps.epoch(), instance, record.id, changes)
    this.#remember(instance, { ...record, ...changes })
  }

  /** Runs in the lane of the instance. Otherwise a record could be cached after another caller has changed it. */
  async #find(instance: InstanceName, person: Person): Promise<PersonRecord | undefined> {
    const cached = this.#cached(instance, person)
    if (cached) return cached
    const [found] = await this.#deps.store.find(instance, person)
    if (found) this.#remember(instance, found)
    return found
  }

  async #learn(instance: InstanceName, person: Person, pushName: string | null): Promise<PersonRecord> {
    const { store, epoch, newId } = this.#deps
    const found = await store.find(instance, person)
    const [first, second] = found
    if (!first) {
      const record = { id: newId(), phone: person.phone, lid: person.lid, pushName, savedName: null }
      await store.insert(epoch(), instance, record)
      return this.#remember(instance, record)
    }
    if (second) return this.#merge(instance, person, [first, second], pushName)
    const changes = news(first, person, pushName)
    if (Object.keys(changes).length > 0) await store.update(epoch(), instance, first.id, changes)
    return this.#remember(instance, { ...first, ...changes })
  }

  async #merge(
    instance: InstanceName,
    { phone, lid }: Person,
    found: readonly [PersonRecord, PersonRecord],
    pushName: string | null,
  ): Promise<PersonRecord> {
    const { store, epoch, onMerged } = this.#deps
    const [byPhone, byLid] = found[0].phone === phone ? found : [found[1], found[0]]
    const names = {
      pushName: pushName ?? byPhone.pushName ?? byLid.pushName,
      savedName: byPhone.savedName ?? byLid.savedName,
    }
    if (byPhone.lid !== null && byPhone.lid !== lid) {
      // The phone number has moved from one person to another. The two people stay two records.
      await store.update(epoch(), instance, byPhone.id, { phone: null })
      await store.update(epoch(), instance, byLid.id, { phone, ...(pushName !== null && { pushName }) })
      this.#cache.clear()
      return this.#remember(instance, { ...byLid, phone, pushName: pushName ?? byLid.pushName })
    }
    const merged: PersonRecord = { id: byPhone.id, phone, lid, ...names }
    await store.merge(epoch(), instance, merged, byLid.id)
    this.#remember(instance, merged)
    onMerged(instance, { keep: byPhone.id, drop: byLid.id })
    return merged
  }

  #cached(instance: InstanceName, { phone, lid }: Person): PersonRecord | undefined {
    const byPhone = phone === null ? undefined : this.#cache.get(`${instance}|${phone}`)
    return byPhone ?? (lid === null ? undefined : this.#cache.get(`${instance}|lid-${lid}`))
  }

  #remember(instance: InstanceName, record: PersonRecord): PersonRecord {
    if (record.phone !== null) this.#cache.set(`${instance}|${record.phone}`, record)
    if (record.lid !== null) this.#cache.set(`${instance}|lid-${record.lid}`, record)
    return record
  }
}

function tellsNothingNew(known: PersonRecord, { phone, lid }: Person, pushName: string | null): boolean {
  return (
    (phone === null || phone === known.phone) &&
    (lid === null || lid === known.lid) &&
    (pushName === null || pushName === known.pushName)
  )
}

function news(known: PersonRecord, { phone, lid }: Person, pushName: string | null): PersonChanges {
  return {
    ...(phone !== null && phone !== known.phone && { phone }),
    ...(lid !== null && lid !== known.lid && { lid }),
    ...(pushName !== null && pushName !== known.pushName && { pushName }),
  }
}
