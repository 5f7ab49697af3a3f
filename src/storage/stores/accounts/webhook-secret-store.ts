// Stores the secret with which each helpdesk inbox signs its callbacks. A secret belongs to no instance: several may share the
// inbox.

import type { DestinationKey } from '../../../core/ids.ts'
import type { NodeHold } from '../../../core/nodes/hold.ts'
import type { Database } from '../../database.ts'
import { placeOf } from '../../engine/statement.ts'
import { webhookSecretColumns } from '../../schema/accounts.ts'
import { settingsChanged } from '../nodes/assignment-steps.ts'
import { NodeWriter } from '../node-writer.ts'

export class WebhookSecretStore {
  readonly #database: Database
  readonly #writer: NodeWriter

  constructor(database: Database, nodeHold: () => NodeHold) {
    this.#database = database
    this.#writer = new NodeWriter(database, nodeHold)
  }

  async find(destination: DestinationKey): Promise<string | undefined> {
    const query = this.#database.query.selectFrom('webhook_secrets').selectAll().where('destination', '=', destination)
    const [row] = await this.#database.read(query, webhookSecretColumns)
    return row && decode(row.secret)
  }

  /**
   * For a place where no helpdesk inbox was identified yet: the secrets of those that have the same ids at other addresses.
   * A key is a place, or a place with an identifier.
   */
  async findElsewhere(place: string): Promise<string[]> {
    const { query } = this.#database
    const ids = place.slice(place.indexOf('|'))
    const known = query.selectFrom('destination_places').select('key').where('place', '=', place)
    const rows = await this.#database.read(
      query
        .selectFrom('webhook_secrets')
        .selectAll()
        .where((eb) => eb.or([eb('destination', 'like', `%${ids}`), eb('destination', 'like', `%${ids}|%`)]))
        .where((eb) => eb.not(eb.exists(known))),
      webhookSecretColumns,
    )
    return rows.map(({ secret }) => decode(secret))
  }

  /** Replaces the secret that the destination had before. */
  async put(destination: DestinationKey, secret: string): Promise<void> {
    const place = placeOf(webhookSecretColumns.table, [destination], 'secret')
    const columns = { sealed_for: destination, secret: { seal: Buffer.from(secret), place } }
    await this.#writer.write(
      this.#database.query
        .insertInto('webhook_secrets')
        .values({ destination, ...columns })
        .onConflict((conflict) => conflict.column('destination').doUpdateSet(columns)),
      ...settingsChanged(this.#database),
    )
  }

  async remove(destination: DestinationKey): Promise<void> {
    await this.#writer.write(
      this.#database.query.deleteFrom('webhook_secrets').where('destination', '=', destination),
      ...settingsChanged(this.#database),
    )
  }
}

function decode(secret: Uint8Array): string {
  return Buffer.from(secret).toString('utf8')
}
