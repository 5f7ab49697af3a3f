// The keys that programs gave to their direct messages. The outbox stores a key together with its row.

import type { InstanceName, RowId } from '../../../core/ids.ts'
import type { NodeHold } from '../../../core/nodes/hold.ts'
import type { Database } from '../../database.ts'
import { batchSize } from '../delete-in-batches.ts'
import { NodeWriter } from '../node-writer.ts'
import { findRequest, requestKeyLifetimeMs } from './settled-callbacks.ts'

export class RequestKeyStore {
  readonly #database: Database
  readonly #writer: NodeWriter

  constructor(database: Database, nodeHold: () => NodeHold) {
    this.#database = database
    this.#writer = new NodeWriter(database, nodeHold)
  }

  /** The request that had this key within the last day. */
  async find(
    instance: InstanceName,
    requestKey: string,
    now: number,
  ): Promise<{ rowId: RowId; fingerprint: string } | undefined> {
    const found = await findRequest(this.#database, { instance, requestKey })
    return found && found.settledAt > now - requestKeyLifetimeMs ? found : undefined
  }

  /** Deletes the keys that count no more. */
  async prune(now: number): Promise<void> {
    const { query } = this.#database
    const key = ['instance', 'request_key'] as const
    const before = now - requestKeyLifetimeMs
    const old = query.selectFrom('request_keys').select(key).where('settled_at', '<=', before).limit(batchSize)
    const removal = query.deleteFrom('request_keys')
    await this.#writer.removeAll(removal.where((row) => row(row.refTuple(...key), 'in', old.$asTuple(...key))))
  }
}
