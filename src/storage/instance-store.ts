// The records of the linked accounts.

import type { Database } from './database.ts'
import type { InstanceRow, NewInstanceRow } from './schema.ts'

export class InstanceStore {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  async list(): Promise<InstanceRow[]> {
    return this.#database.read(this.#database.query.selectFrom('instances').selectAll().orderBy('name'))
  }

  async insert(row: NewInstanceRow): Promise<void> {
    await this.#database.write(this.#database.query.insertInto('instances').values(row))
  }
}
