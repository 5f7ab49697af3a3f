// Who is who, from memory where possible: every address of a person leads to one record, and two records that turn out to
// be one person become one.

import type { PerInstance } from '../../core/per-instance.ts'
import type { Person } from '../../core/address.ts'
import type { PersonNames } from '../../core/network.ts'
import { BoundedMap } from '../../lib/bounded-map.ts'
import type { Clock } from '../../lib/clock.ts'
import { KeyedLanes } from '../../lib/keyed-lanes.ts'
import type { PeopleStore, PersonChanges, PersonRecord } from '../../storage/stores/people/people-store.ts'

type Deps = {
  store: PeopleStore
  epoch: () => number
  newId: () => string
  clock: Clock
  /** Told after two records have become one. */
  onMerged: (instance: string, ids: { keep: string; drop: string }) => void
}

const maxRemembered = 50_000
const rememberedMs = 3_600_000
const nobody: PersonRecord = { id: 'nobody', phone: null, lid: null, pushName: null, savedName: null }

export class People implements PerInstance {
  readonly #deps: Deps
  readonly #known: BoundedMap<PersonRecord>
  readonly #lanes = new KeyedLanes()

  constructor(deps: Deps) {
    this.#deps = deps
    this.#known = new BoundedMap({ clock: deps.clock, max: maxRemembered, ttlMs: rememberedMs })
  }

  /** The record of this person; what the event adds to it is stored. */
  async upsert(instance: string, person: Person, pushName: string | null = null): Promise<PersonRecord> {
    if (person.phone === null && person.lid === null) return nobody
    const known = this.#recall(instance, person)
    if (known && tellsNothingNew(known, person, pushName)) return known
    return this.#lanes.run(instance, () => this.#learn(instance, person, pushName))
  }

  /** The record if there is one; nobody is written down for having been mentioned. */
  async lookUp(instance: string, person: Person): Promise<PersonRecord | undefined> {
    if (person.phone === null && person.lid === null) return undefined
    return this.#recall(instance, person) ?? this.#lanes.run(instance, () => this.#find(instance, person))
  }

  /** What the address book or a profile says; only saved names are worth a record of their own. */
  async applyNames(instance: string, names: PersonNames): Promise<void> {
    const { phone, lid } = names.person
    if (phone !== null || lid !== null) await this.#lanes.run(instance, () => this.#name(instance, names))
  }

  async #name(instance: string, { person, pushName, savedName }: PersonNames): Promise<void> {
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

  leave(instance: string): void {
    this.#known.deleteWhere((key) => key.startsWith(`${instance}|`))
  }

  /** In the lane: what is found must not be remembered after somebody has changed it. */
  async #find(instance: string, person: Person): Promise<PersonRecord | undefined> {
    const known = this.#recall(instance, person)
    if (known) return known
    const [found] = await this.#deps.store.find(instance, person)
    if (found) this.#remember(instance, found)
    return found
  }

  async #learn(instance: string, person: Person, pushName: string | null): Promise<PersonRecord> {
    const { store, epoch, newId } = this.#deps
    const found = await store.find(instance, person)
    const [first, second] = found
    if (!first) {
      const record = { id: newId(), phone: person.phone, lid: person.lid, pushName, savedName: null }
      await store.insert(epoch(), instance, record)
      return this.#remember(instance, record)
    }
    if (second) return this.#join(instance, person, [first, second], pushName)
    const changes = news(first, person, pushName)
    if (Object.keys(changes).length > 0) await store.update(epoch(), instance, first.id, changes)
    return this.#remember(instance, { ...first, ...changes })
  }

  async #join(
    instance: string,
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
      // The number has gone from one person to another: nobody is merged with whoever had it before.
      await store.update(epoch(), instance, byPhone.id, { phone: null })
      await store.update(epoch(), instance, byLid.id, { phone, ...(pushName !== null && { pushName }) })
      this.#known.clear()
      return this.#remember(instance, { ...byLid, phone, pushName: pushName ?? byLid.pushName })
    }
    const joined: PersonRecord = { id: byPhone.id, phone, lid, ...names }
    await store.merge(epoch(), instance, joined, byLid.id)
    this.#remember(instance, joined)
    onMerged(instance, { keep: byPhone.id, drop: byLid.id })
    return joined
  }

  #recall(instance: string, { phone, lid }: Person): PersonRecord | undefined {
    const byPhone = phone === null ? undefined : this.#known.get(`${instance}|${phone}`)
    return byPhone ?? (lid === null ? undefined : this.#known.get(`${instance}|lid-${lid}`))
  }

  #remember(instance: string, record: PersonRecord): PersonRecord {
    if (record.phone !== null) this.#known.set(`${instance}|${record.phone}`, record)
    if (record.lid !== null) this.#known.set(`${instance}|lid-${record.lid}`, record)
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
