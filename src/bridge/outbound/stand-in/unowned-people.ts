// The people of an instance that another node holds. Nothing is remembered: its owner changes the records.

import type { Person } from '../../../core/address.ts'
import type { ChatId, InstanceName } from '../../../core/ids.ts'
import type { NodeHold } from '../../../core/nodes/hold.ts'
import type { PeopleStore, PersonRecord } from '../../../storage/stores/people/people-store.ts'
import { isUnexpected } from '../../../storage/stores/fence.ts'
import type { People } from '../../people/people.ts'
import { isHolder } from '../../people/person-news.ts'

type Deps = {
  store: Pick<PeopleStore, 'find' | 'findById' | 'insertUnlessKnown'>
  nodeHold: () => NodeHold
  newId: () => ChatId
}

export class UnownedPeople implements Pick<People, 'lookUp' | 'upsert' | 'ofId'> {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  async lookUp(instance: InstanceName, person: Person): Promise<PersonRecord | undefined> {
    const records = await this.#deps.store.find(instance, person)
    return records.find((record) => isHolder(record, person)) ?? records[0]
  }

  ofId(instance: InstanceName, id: ChatId): Promise<PersonRecord | undefined> {
    return this.#deps.store.findById(instance, id)
  }

  /** For a person whom `lookUp` did not find. The owner may have stored the person since. */
  async upsert(instance: InstanceName, person: Person): Promise<PersonRecord> {
    const { store, nodeHold, newId } = this.#deps
    const record = { id: newId(), ...person, pushName: null, savedName: null, formerPhones: [] }
    try {
      await store.insertUnlessKnown(nodeHold(), instance, record)
    } catch (error) {
      // The instance is deleted. Its messages are refused when they are stored.
      if (!isUnexpected(error)) throw error
    }
    return (await this.lookUp(instance, person)) ?? record
  }
}
