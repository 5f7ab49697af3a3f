// Knows which addresses belong to the same person. Every phone number and anonymous id leads to one record; two records
// that turn out to be one person are merged. A number that a person had before leads to that person until another person has
// it. Reads from memory where possible.

import type { Person } from '../../core/address.ts'
import type { ChatId, InstanceName } from '../../core/ids.ts'
import type { PersonNames } from '../../core/network/reception.ts'
import type { PerInstance } from '../../core/per-instance.ts'
import type { HoldOf } from '../../core/nodes/hold.ts'
import { BoundedMap } from '../../lib/bounded-map.ts'
import type { Clock } from '../../lib/clock.ts'
import { KeyedLanes } from '../../lib/queues/keyed-lanes.ts'
import { StorageError } from '../../storage/engine/statement.ts'
import { shownName } from './names.ts'
import { formerPhones, isHolder, news, tellsNothingNew } from './person-news.ts'
import type { PeopleStore, PersonChanges, PersonRecord } from '../../storage/stores/people/people-store.ts'

/** The ids of two person records that became one. */
export type MergedPeople = { keep: ChatId; drop: ChatId }
type MergeListener = (instance: InstanceName, ids: MergedPeople) => void
/** A person and the records that the person had before. `isFullSync` is as in PersonNames. */
export type RenamedPerson = { person: PersonRecord; before: readonly PersonRecord[]; isFullSync: boolean }
type RenameListener = (instance: InstanceName, renamed: RenamedPerson) => void

type Deps = {
  store: PeopleStore
  holdOf: HoldOf
  newId: () => ChatId
  clock: Clock
}

// A person has an entry for the id and for each address.
const maxCached = 75_000
const cachedMs = 3_600_000
/** Stands for a person of whom no address is known. */
const unknownPerson: PersonRecord = {
  id: 'nobody',
  phone: null,
  lid: null,
  pushName: null,
  savedName: null,
  formerPhones: [],
}

export class People implements PerInstance {
  readonly #deps: Deps
  readonly #cache: BoundedMap<PersonRecord>
  readonly #lanes = new KeyedLanes()
  readonly #mergeListeners: MergeListener[] = []
  readonly #renameListeners: RenameListener[] = []
  /** Merges that storage did not answer. They may have been made. */
  #unconfirmed: { instance: InstanceName; ids: MergedPeople }[] = []

  constructor(deps: Deps) {
    this.#deps = deps
    this.#cache = new BoundedMap({ clock: deps.clock, max: maxCached, ttlMs: cachedMs })
  }

  /** The listener is called after two records have become one. */
  onMerged(listener: MergeListener): void {
    this.#mergeListeners.push(listener)
  }

  /** The listener is called when a known person is called by another name, or is not saved any more under the same name. */
  onRenamed(listener: RenameListener): void {
    this.#renameListeners.push(listener)
  }

  /** The record of this person. Stores what the arguments add to the record. */
  async upsert(instance: InstanceName, person: Person, pushName: string | null = null): Promise<PersonRecord> {
    if (person.phone === null && person.lid === null) return unknownPerson
    const cached = this.#cached(instance, person)
    if (cached && tellsNothingNew(cached, person, pushName)) return cached
    return this.#lanes.run(instance, () => this.#learnAgain(instance, person, pushName))
  }

  /** The record with this id. */
  async ofId(instance: InstanceName, id: ChatId): Promise<PersonRecord | undefined> {
    return this.#cache.get(idKey(instance, id)) ?? this.#lanes.run(instance, () => this.#findById(instance, id))
  }

  /** The record if there is one, also by a former phone number. A person who is only mentioned gets no record. */
  async lookUp(instance: InstanceName, person: Person): Promise<PersonRecord | undefined> {
    if (person.phone === null && person.lid === null) return undefined
    return this.#cached(instance, person) ?? this.#lanes.run(instance, () => this.#find(instance, person))
  }

  /** The records of those among the people who have one, with a single question to storage. */
  lookUpAll(instance: InstanceName, people: readonly Person[]): Promise<(person: Person) => PersonRecord | undefined> {
    return this.#lanes.run(instance, async () => {
      const found = new Map<string, PersonRecord>()
      const note = (record: PersonRecord) => {
        if (record.phone !== null) found.set(record.phone, record)
        if (record.lid !== null) found.set(`lid-${record.lid}`, record)
      }
      const unknown = people.filter((person) => {
        const cached = this.#cached(instance, person)
        if (cached) note(cached)
        return !cached
      })
      const stored = unknown.length === 0 ? [] : await this.#deps.store.findAll(instance, unknown)
      for (const record of stored) note(this.#remember(instance, record))
      return ({ phone, lid }) => found.get(`lid-${lid ?? ''}`) ?? found.get(phone ?? '')
    })
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
    this.#forget(instance)
    this.#unconfirmed = this.#unconfirmed.filter((merge) => merge.instance !== instance)
  }

  /** The next caller reads the records of the instance again. */
  #forget(instance: InstanceName): void {
    this.#cache.deleteWhere((key) => key.startsWith(`${instance}|`))
  }

  async #rename(instance: InstanceName, names: PersonNames): Promise<void> {
    const { person, pushName, savedName, isFullSync = false } = names
    const known = await this.#find(instance, person)
    if (!known && (savedName === undefined || savedName === null)) return
    const record = known ?? (await this.#learnAgain(instance, person, null))
    const changes = {
      ...(pushName !== undefined && pushName !== record.pushName && { pushName }),
      ...(savedName !== undefined && savedName !== record.savedName && { savedName }),
    }
    if (Object.keys(changes).length === 0) return
    await this.#deps.store.update(this.#deps.holdOf(instance), record.id, changes)
    this.#tellRenamed(instance, [record], this.#remember(instance, { ...record, ...changes }), isFullSync)
  }

  /** Runs in the lane of the instance. Otherwise a record could be cached after another caller has changed it. */
  async #find(instance: InstanceName, person: Person): Promise<PersonRecord | undefined> {
    const cached = this.#cached(instance, person)
    if (cached) return cached
    const records = await this.#deps.store.find(instance, person)
    const found = records.find((record) => isHolder(record, person)) ?? records[0]
    return found && this.#remember(instance, found)
  }

  async #findById(instance: InstanceName, id: ChatId): Promise<PersonRecord | undefined> {
    const found = await this.#deps.store.findById(instance, id)
    return found && this.#remember(instance, found)
  }

  /** Another node may store the same person between our look and our write. Then the second look finds the record. */
  async #learnAgain(instance: InstanceName, person: Person, pushName: string | null): Promise<PersonRecord> {
    try {
      return await this.#learn(instance, person, pushName)
    } catch (error) {
      if (!(error instanceof StorageError) || error.failure !== 'constraint') throw error
      return this.#learn(instance, person, pushName)
    }
  }

  async #learn(instance: InstanceName, person: Person, pushName: string | null): Promise<PersonRecord> {
    if (this.#unconfirmed.length > 0) await this.#confirmMerges(instance)
    const found = await this.#deps.store.find(instance, person)
    const holders = found.filter((record) => isHolder(record, person))
    const record = await this.#store(instance, person, holders, pushName).catch((error: unknown) => {
      // The change may have been stored and its answer lost.
      this.#forget(instance)
      throw error
    })
    // The number belongs to another person from now on.
    if (holders.length < found.length) this.#forget(instance)
    this.#remember(instance, record)
    this.#tellRenamed(instance, holders, record)
    return record
  }

  async #store(
    instance: InstanceName,
    person: Person,
    [first, second]: readonly PersonRecord[],
    pushName: string | null,
  ): Promise<PersonRecord> {
    const { store, holdOf, newId } = this.#deps
    if (!first) {
      const { phone, lid } = person
      const record = { id: newId(), phone, lid, pushName, savedName: null, formerPhones: [] }
      await store.insert(holdOf(instance), record)
      return record
    }
    if (second) return this.#merge(instance, person, [first, second], pushName)
    return this.#change(instance, first, news(first, person, pushName))
  }

  /** A phone number that is replaced by another one becomes a former one. */
  async #change(instance: InstanceName, record: PersonRecord, changes: PersonChanges): Promise<PersonRecord> {
    if (Object.keys(changes).length === 0) return record
    const { store, holdOf } = this.#deps
    const { phone = null } = changes
    const replaced = phone === null ? null : record.phone
    await store.update(holdOf(instance), record.id, changes, replaced)
    return { ...record, ...changes, formerPhones: formerPhones(phone ?? record.phone, replaced, record) }
  }

  async #merge(
    instance: InstanceName,
    { phone, lid }: Person,
    found: readonly [PersonRecord, PersonRecord],
    pushName: string | null,
  ): Promise<PersonRecord> {
    const { store, holdOf } = this.#deps
    const [byPhone, byLid] = found[0].phone === phone ? found : [found[1], found[0]]
    const names = {
      pushName: pushName ?? byPhone.pushName ?? byLid.pushName,
      savedName: byPhone.savedName ?? byLid.savedName,
    }
    if (byPhone.lid !== null && byPhone.lid !== lid) {
      // The phone number has moved from one person to another. The two people stay two records.
      await store.update(holdOf(instance), byPhone.id, { phone: null })
      this.#forget(instance)
      return this.#change(instance, byLid, { phone, ...(pushName !== null && { pushName }) })
    }
    const former = formerPhones(phone, byLid.phone, byPhone, byLid)
    const merged: PersonRecord = { id: byPhone.id, phone, lid, ...names, formerPhones: former }
    const ids = { keep: byPhone.id, drop: byLid.id }
    try {
      await store.merge(holdOf(instance), merged, byLid)
    } catch (error) {
      this.#unconfirmed.push({ instance, ids })
      throw error
    }
    this.#cache.delete(idKey(instance, byLid.id))
    this.#remember(instance, merged)
    this.#tellMerged(instance, ids)
    return merged
  }

  /** A merge was made if its dropped record is gone. A merge that was not made is made again by its caller. */
  async #confirmMerges(instance: InstanceName): Promise<void> {
    const own = this.#unconfirmed.filter((merge) => merge.instance === instance)
    for (const { ids } of own) {
      if ((await this.#deps.store.findById(instance, ids.drop)) === undefined) this.#tellMerged(instance, ids)
    }
    this.#unconfirmed = this.#unconfirmed.filter((merge) => !own.includes(merge))
  }

  #tellRenamed(
    instance: InstanceName,
    before: readonly PersonRecord[],
    person: PersonRecord,
    isFullSync = false,
  ): void {
    if (before.every((record) => shownName(record) === shownName(person))) return
    for (const listener of this.#renameListeners) listener(instance, { person, before, isFullSync })
  }

  #tellMerged(instance: InstanceName, ids: MergedPeople): void {
    for (const listener of this.#mergeListeners) listener(instance, ids)
  }

  #cached(instance: InstanceName, { phone, lid }: Person): PersonRecord | undefined {
    const byPhone = phone === null ? undefined : this.#cache.get(`${instance}|${phone}`)
    if (byPhone && isHolder(byPhone, { phone, lid })) return byPhone
    return (lid === null ? undefined : this.#cache.get(`${instance}|lid-${lid}`)) ?? byPhone
  }

  #remember(instance: InstanceName, record: PersonRecord): PersonRecord {
    this.#cache.set(idKey(instance, record.id), record)
    for (const phone of [record.phone ?? [], record.formerPhones].flat())
      this.#cache.set(`${instance}|${phone}`, record)
    if (record.lid !== null) this.#cache.set(`${instance}|lid-${record.lid}`, record)
    return record
  }
}

function idKey(instance: InstanceName, id: ChatId): string {
  return `${instance}|id-${id}`
}
