// Stores the calls that the service rejects. A call is claimed before it is rejected, so that a process that dies meanwhile
// leaves a trace. The commit that stores the rejection also decides whether the customer gets a text.

import { sql } from 'kysely'
import type { Person } from '../../../core/address.ts'
import type { CallOutcome } from '../../../core/message.ts'
import type { InstanceName, NetworkMessageId } from '../../../core/ids.ts'
import type { RowScope } from '../../../core/nodes/duties.ts'
import type { HoldOf, NodeHold } from '../../../core/nodes/hold.ts'
import { KeyedLanes } from '../../../lib/queues/keyed-lanes.ts'
import type { Database } from '../../database.ts'
import { batchSize } from '../delete-in-batches.ts'
import { FencedWriter } from '../fenced-writer.ts'
import { NodeWriter } from '../node-writer.ts'
import { inScope } from '../row-scope.ts'

/** A call by its id. */
export type CallRef = { instance: InstanceName; callId: NetworkMessageId }
/** A rejected call whose caller is still to get a text. */
export type DueText = CallRef & { caller: Person; rejectedAt: number }

/** The place of a text in the order of the due ones. */
type DuePlace = CallRef & { rejectedAt: number }

const beforeAll: DuePlace = { rejectedAt: -1, instance: '', callId: '' }

/** `textOnceInMs`: the caller gets a text unless one was decided within this time; null: no text. */
type Rejection = { at: number; textOnceInMs: number | null }

export class RejectedCallStore {
  readonly #database: Database
  readonly #writer: FencedWriter
  readonly #nodeWriter: NodeWriter
  /** PostgreSQL commits side by side: two rejections of one person would not see each other, and both would bring a text. */
  readonly #confirmations = new KeyedLanes()

  constructor(database: Database, holdOf: HoldOf, nodeHold: () => NodeHold) {
    this.#database = database
    this.#writer = new FencedWriter(database, holdOf)
    this.#nodeWriter = new NodeWriter(database, nodeHold)
  }

  /** To be called before the network is asked to reject the call. */
  async claim({ instance, callId }: CallRef, { phone, lid }: Person, at: number): Promise<void> {
    const row = { instance, call_id: callId, phone, lid, claimed_at: at, rejected_at: null, text_state: null }
    const insert = this.#database.query.insertInto('rejected_calls').values(row)
    await this.#writer.write(
      instance,
      insert.onConflict((known) => known.doNothing()),
    )
  }

  /** The call was over before it was rejected. */
  async unclaim(call: CallRef): Promise<void> {
    const removal = this.#database.query.deleteFrom('rejected_calls').where('rejected_at', 'is', null)
    const { instance, callId } = call
    await this.#writer.write(instance, removal.where('instance', '=', instance).where('call_id', '=', callId))
  }

  /** The network has confirmed the rejection. */
  async confirm({ instance, callId }: CallRef, { at, textOnceInMs }: Rejection): Promise<void> {
    const due =
      textOnceInMs === null
        ? sql<null>`NULL`
        : sql<'due' | null>`CASE WHEN EXISTS (
            SELECT 1 FROM rejected_calls AS other
            WHERE other.instance = rejected_calls.instance
              AND other.rejected_at > ${at - textOnceInMs}
              AND other.text_state IN ('due', 'given')
              AND (other.phone = rejected_calls.phone OR other.lid = rejected_calls.lid)
          ) THEN NULL ELSE 'due' END`
    const update = this.#database.query
      .updateTable('rejected_calls')
      .set({ rejected_at: at, text_state: due })
      .where('instance', '=', instance)
      .where('call_id', '=', callId)
      .where('rejected_at', 'is', null)
    await this.#confirmations.run(instance, () => this.#writer.write(instance, update))
  }

  /** Undefined for a call that the service did not try to reject. */
  async outcomeOf({ instance, callId }: CallRef): Promise<CallOutcome | undefined> {
    const query = this.#database.query.selectFrom('rejected_calls').select('rejected_at')
    const [row] = await this.#database.read(query.where('instance', '=', instance).where('call_id', '=', callId))
    return row && (row.rejected_at === null ? 'unconfirmed' : 'rejected')
  }

  /** Oldest first; those that come after this one. */
  async dueTexts(limit: number, scope: RowScope, after: DuePlace = beforeAll): Promise<DueText[]> {
    const query = this.#database.query
      .selectFrom('rejected_calls')
      .select(['instance', 'call_id', 'phone', 'lid', 'rejected_at'])
      // In the text of the statement, so that the index with this condition is used.
      .where('text_state', '=', sql.lit('due'))
      .where(inScope(scope))
      .where((row) =>
        row(
          row.refTuple('rejected_at', 'instance', 'call_id'),
          '>',
          row.tuple(after.rejectedAt, after.instance, after.callId),
        ),
      )
      .orderBy('rejected_at')
      .orderBy('instance')
      .orderBy('call_id')
    const rows = await this.#database.read(query.limit(limit))
    return rows.map(({ instance, call_id: callId, phone, lid, rejected_at: at }) => ({
      ...{ instance, callId, caller: { phone, lid }, rejectedAt: at ?? 0 },
    }))
  }

  /** `given`: the outbox has the text. `dropped`: the caller does not get it. */
  async settleText({ instance, callId }: CallRef, state: 'given' | 'dropped'): Promise<void> {
    await this.#writer.write(
      instance,
      this.#database.query
        .updateTable('rejected_calls')
        .set({ text_state: state })
        .where('instance', '=', instance)
        .where('call_id', '=', callId)
        .where('text_state', '=', 'due'),
    )
  }

  async prune(before: number): Promise<void> {
    const { query } = this.#database
    const old = query
      .selectFrom('rejected_calls')
      .select(['instance', 'call_id'])
      .where('claimed_at', '<', before)
      .limit(batchSize)
    await this.#nodeWriter.removeAll(
      query
        .deleteFrom('rejected_calls')
        .where((row) => row(row.refTuple('instance', 'call_id'), 'in', old.$asTuple('instance', 'call_id'))),
    )
  }
}
