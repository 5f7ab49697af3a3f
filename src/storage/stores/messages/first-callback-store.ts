// Stores when each destination sent us its first callback. An older message was written before Chatwoot called this service.

import type { DestinationKey } from '../../../core/ids.ts'
import type { NodeHold } from '../../../core/nodes/hold.ts'
import type { Database } from '../../database.ts'
import { NodeWriter } from '../node-writer.ts'

export class FirstCallbackStore {
  readonly #database: Database
  readonly #writer: NodeWriter

  constructor(database: Database, nodeHold: () => NodeHold) {
    this.#database = database
    this.#writer = new NodeWriter(database, nodeHold)
  }

  async find(destination: DestinationKey): Promise<number | undefined> {
    const query = this.#database.query.selectFrom('first_callbacks').select('heard_at')
    const [found] = await this.#database.read(query.where('destination', '=', destination))
    return found?.heard_at
  }

  /** An earlier time that is stored already stays. */
  async note(destination: DestinationKey, heardAt: number): Promise<void> {
    const insert = this.#database.query.insertInto('first_callbacks').values({ destination, heard_at: heardAt })
    const keepEarliest = insert.onConflict((conflict) =>
      conflict.column('destination').doUpdateSet({ heard_at: heardAt }).where('first_callbacks.heard_at', '>', heardAt),
    )
    await this.#writer.write(keepEarliest)
  }
}
