// The journal of what the network delivered: fingerprints of opened messages (column `envelope`), received events, and
// stanzas that the library must still handle.
//
// The rows of a received message are written together with the keys that opened it, so this store returns statements.

import type { InstanceName, RowId } from '../../../core/ids.ts'
import type { NetworkEvent } from '../../../core/message.ts'
import type { NodeHold } from '../../../core/nodes/hold.ts'
import type { Database } from '../../database.ts'
import { compileReadOnce } from '../../compile-once.ts'
import { batchSize, deleteInBatches } from '../delete-in-batches.ts'
import { createFence } from '../fence.ts'
import type { Fence } from '../fence.ts'
import { inboxSecrets, unfinishedSecrets } from '../../schema/messages.ts'
import { placeOf, toStatement } from '../../engine/statement.ts'
import type { Statement } from '../../engine/statement.ts'

export type UnfinishedStanza = { stanzaId: string; stanza: Uint8Array }
type NewInboxRow = { id: RowId; instance: InstanceName; event: NetworkEvent; receivedAt: number }

export class JournalStore {
  readonly #database: Database
  readonly #fence: Fence
  readonly #opened: string
  readonly #unfinished: string
  readonly #inbox: string
  readonly #unfinishedOf: ReturnType<typeof compileUnfinishedOf>

  // Written with every message, or read at every login: compiled once. A write that is repeated finds its own rows and leaves them.
  constructor(database: Database) {
    const { query } = database
    const sealed = { seal: new Uint8Array(), place: '' }
    const once = (table: 'opened' | 'unfinished' | 'inbox', values: object) =>
      toStatement(
        query
          .insertInto(table)
          .values(values)
          .onConflict((conflict) => conflict.doNothing()),
      ).sql
    this.#database = database
    this.#fence = createFence(database)
    this.#unfinishedOf = compileUnfinishedOf(database)
    this.#opened = once('opened', { session_id: '', envelope: '', opened_at: 0 })
    this.#unfinished = once('unfinished', { session_id: '', stanza_id: '', stored_at: 0, stanza: sealed })
    this.#inbox = once('inbox', { id: '', instance: '', event: sealed, received_at: 0, kind: '' })
  }

  opened(sessionId: string, envelope: string, at: number): Statement {
    return { sql: this.#opened, parameters: [sessionId, envelope, at] }
  }

  unfinished(sessionId: string, { stanzaId, stanza }: UnfinishedStanza, at: number): Statement {
    const place = placeOf(unfinishedSecrets.table, [sessionId, stanzaId], 'stanza')
    return { sql: this.#unfinished, parameters: [sessionId, stanzaId, at, { seal: stanza, place }] }
  }

  inbox({ id, instance, event, receivedAt }: NewInboxRow): Statement {
    const sealed = { seal: JSON.stringify(event), place: placeOf(inboxSecrets.table, [id], 'event') }
    return { sql: this.#inbox, parameters: [id, instance, sealed, receivedAt, event.kind] }
  }

  async wasOpened(sessionId: string, envelope: string): Promise<boolean> {
    const query = this.#database.query
      .selectFrom('opened')
      .select('opened_at')
      .where('session_id', '=', sessionId)
      .where('envelope', '=', envelope)
    return (await this.#database.read(query)).length > 0
  }

  /** Oldest first. */
  async loadUnfinished(sessionId: string): Promise<UnfinishedStanza[]> {
    const rows = await this.#database.read(this.#unfinishedOf({ session_id: sessionId }), unfinishedSecrets)
    return rows.map(({ stanza_id, stanza }) => ({ stanzaId: stanza_id, stanza }))
  }

  /** The library has handled the stanza. */
  finished(sessionId: string, stanzaId: string): Statement {
    const { query } = this.#database
    return toStatement(
      query.deleteFrom('unfinished').where('session_id', '=', sessionId).where('stanza_id', '=', stanzaId),
    )
  }

  /** Deletes the fingerprints of messages that the network will not deliver again. Returns their number. */
  async prune(hold: NodeHold, openedBefore: number): Promise<number> {
    const { query } = this.#database
    const old = query
      .selectFrom('opened')
      .select(['session_id', 'envelope'])
      .where('opened_at', '<', openedBefore)
      .limit(batchSize)
    const removal = toStatement(
      query
        .deleteFrom('opened')
        .where((eb) => eb(eb.refTuple('session_id', 'envelope'), 'in', old.$asTuple('session_id', 'envelope'))),
    )
    return deleteInBatches(async () => {
      const [, removed = 0] = await this.#database.write(this.#fence(hold), removal)
      return removed
    })
  }
}

function compileUnfinishedOf({ query }: Database) {
  return compileReadOnce(['session_id'], ({ session_id }) =>
    query
      .selectFrom('unfinished')
      .selectAll()
      .where('session_id', '=', session_id)
      .orderBy('stored_at')
      .orderBy('stanza_id'),
  )
}
