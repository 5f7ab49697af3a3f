// Stores which client versions of the network are known: the newest one, the last one that worked, and a refused one.

import type { Database } from '../../database.ts'
import type { NodeHold } from '../../../core/nodes/hold.ts'
import { NodeWriter } from '../node-writer.ts'

/** Versions are three numbers with dots between them. */
export type StoredVersions = {
  newest: string
  /** The last version that logged an account in. */
  worked: string | null
  /** The newest version, while the network refuses it. */
  refused: string | null
}

/** All accounts share one row. */
const name = 'client'

export class ClientVersionStore {
  readonly #database: Database
  readonly #writer: NodeWriter

  constructor(database: Database, nodeHold: () => NodeHold) {
    this.#database = database
    this.#writer = new NodeWriter(database, nodeHold)
  }

  async find(): Promise<StoredVersions | undefined> {
    const query = this.#database.query
      .selectFrom('client_version')
      .select(['newest', 'worked', 'refused'])
      .where('name', '=', name)
    const [found] = await this.#database.read(query)
    return found
  }

  async save({ newest, worked, refused }: StoredVersions): Promise<void> {
    const columns = { newest, worked, refused }
    await this.#writer.write(
      this.#database.query
        .insertInto('client_version')
        .values({ name, ...columns })
        .onConflict((conflict) => conflict.column('name').doUpdateSet(columns)),
    )
  }
}
