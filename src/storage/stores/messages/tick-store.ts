// What the phones report of the messages in the message map, and what the helpdesk was told of it.

import { sql } from 'kysely'
import type { Selectable } from 'kysely'
import type { ChatId, DestinationKey, InstanceName, NetworkMessageId, RowId } from '../../../core/ids.ts'
import type { Tick } from '../../../core/tick.ts'
import type { RowScope } from '../../../core/nodes/duties.ts'
import type { HoldOf } from '../../../core/nodes/hold.ts'
import type { Database } from '../../database.ts'
import type { MessageMapTable } from '../../schema/messages.ts'
import { FencedWriter } from '../fenced-writer.ts'
import { inScope } from '../row-scope.ts'
import { from } from './outbox-guards.ts'
import { idPieces } from '../id-pieces.ts'
import { unreadIn } from './sent-message-store.ts'

/** A row of the message map, as a receipt finds it. */
export type ReceiptTarget = {
  id: RowId
  networkId: NetworkMessageId
  destination: DestinationKey
  chat: ChatId
  kind: string
  direction: 'in' | 'echo' | 'out'
  conversationId: number | null
  messageId: number | null
  reported: Tick | null
}

/** A message of which the helpdesk must be told. */
export type DueTick = {
  instance: InstanceName
  destination: DestinationKey
  conversationId: number
  messageId: number
  dueAt: number
}

export type TickedPart = {
  id: RowId
  reported: Tick | null
  reportedAt: number
  ticked: Tick | null
  tickAt: number | null
}
export type TickedMessage = {
  parts: TickedPart[]
  /** Every part of the message was sent. */
  isSent: boolean
  /** The outbox has a row that names the message. */
  hasRow: boolean
  /** The id of a message that the owner wrote on the phone; null when the service sent the message. */
  echoOf: NetworkMessageId | null
}

const targetColumns = [
  'id',
  'network_id',
  'destination',
  'chat',
  'kind',
  'direction',
  'conversation_id',
  'message_id',
  'reported',
] as const

export class TickStore {
  readonly #database: Database
  readonly #writer: FencedWriter

  constructor(database: Database, holdOf: HoldOf) {
    this.#database = database
    this.#writer = new FencedWriter(database, holdOf)
  }

  /** The rows of these messages of the network. */
  async find(instance: InstanceName, networkIds: readonly NetworkMessageId[]): Promise<ReceiptTarget[]> {
    const query = this.#database.query.selectFrom('message_map').select(targetColumns)
    const found = idPieces(networkIds).map((piece) =>
      this.#database.read(query.where('instance', '=', instance).where('network_id', 'in', piece)),
    )
    return (await Promise.all(found)).flat().map(toTarget)
  }

  /**
   * The phones report so much of these rows. A row of which they reported as much before stays as it is. A message that the
   * helpdesk does not have yet becomes due when it is posted.
   */
  async report(instance: InstanceName, rows: Readonly<Record<Tick, readonly RowId[]>>, at: number): Promise<void> {
    const dueAt = sql<number | null>`CASE WHEN message_id IS NOT NULL THEN CAST(${at} AS BIGINT) END`
    const raise = (tick: Tick) =>
      this.#database.query.updateTable('message_map').set({ reported: tick, reported_at: at, tick_at: dueAt })
    const delivered = idPieces(rows.delivered).map((ids) =>
      raise('delivered').where('id', 'in', ids).where('reported', 'is', null),
    )
    const read = idPieces(rows.read).map((ids) =>
      raise('read')
        .where('id', 'in', ids)
        .where((row) => row.or([row('reported', 'is', null), row('reported', '<>', 'read')])),
    )
    await this.#writer.write(instance, ...delivered, ...read)
  }

  /** The messages of which the helpdesk must be told now, except for those of some destinations. */
  async due(now: number, limit: number, except: readonly DestinationKey[], scope: RowScope): Promise<DueTick[]> {
    const query = this.#database.query
      .selectFrom('message_map')
      .select(['instance', 'destination', 'conversation_id', 'message_id', 'tick_at'])
      .where('tick_at', '<=', now)
      .where(inScope(scope))
    const wanted = except.length === 0 ? query : query.where('destination', 'not in', except)
    const rows = await this.#database.read(wanted.orderBy('tick_at').limit(limit))
    return rows.map(({ instance, destination, conversation_id, message_id, tick_at }) => ({
      instance,
      destination,
      conversationId: conversation_id ?? 0,
      messageId: message_id ?? 0,
      dueAt: tick_at ?? 0,
    }))
  }

  async message(destination: DestinationKey, messageId: number): Promise<TickedMessage> {
    const { query } = this.#database
    const parts = partsOf(this.#database, destination, messageId)
    const row = query
      .selectFrom('outbox')
      .select('status')
      .where('destination', '=', destination)
      .where('message_id', '=', messageId)
      // A refused row without a reason only remembers a change of the message. Any other row says more, so it comes first.
      .orderBy(sql`CASE WHEN status = 'refused' AND reason IS NULL THEN 1 ELSE 0 END`)
    const [found, [newest]] = await Promise.all([
      this.#database.read(parts),
      this.#database.read(row.orderBy('id', 'desc').limit(1)),
    ])
    return {
      parts: found.map(({ id, reported, reported_at, ticked, tick_at }) => ({
        ...{ id, reported, ticked, tickAt: tick_at },
        reportedAt: reported_at ?? 0,
      })),
      isSent: newest === undefined || newest.status === 'sent',
      hasRow: newest !== undefined,
      echoOf: found.find(({ direction }) => direction === 'echo')?.network_id ?? null,
    }
  }

  /** The helpdesk need not be told more of these parts, unless the phones have reported more since the parts were read. */
  async settle(instance: InstanceName, parts: readonly TickedPart[]): Promise<void> {
    await this.#writer.write(instance, ...this.#settleSteps(parts, {}))
  }

  /**
   * The helpdesk shows the tick. It also makes a callback of the change. If that callback fails, the helpdesk shows a failure,
   * so the same commit plans a look at the message. An earlier look would come before the callback has failed, and the tick has
   * just set the status that an earlier look would set.
   */
  async ticked(
    { instance, destination, messageId }: Pick<DueTick, 'instance' | 'destination' | 'messageId'>,
    parts: readonly TickedPart[],
    tick: Tick,
    lookAt: number,
  ): Promise<void> {
    const look = this.#database.query
      .updateTable('outbox')
      .set({ look_at: lookAt })
      .where('destination', '=', destination)
      .where('message_id', '=', messageId)
      .where('status', '=', 'sent')
      .where(from('planLook'))
    await this.#writer.write(instance, ...this.#settleSteps(parts, { ticked: tick }), look)
  }

  /** Tells the helpdesk later of everything that is due in a destination, or in one conversation of it. */
  async postpone(
    instance: InstanceName,
    { destination, conversationId }: { destination: DestinationKey; conversationId?: number },
    now: number,
    until: number,
  ): Promise<void> {
    const update = this.#database.query
      .updateTable('message_map')
      .set({ tick_at: until })
      .where('tick_at', '<=', now)
      // Not the column alone: SQLite would read all rows of the destination instead of those that are due.
      .where(sql`destination || ''`, '=', destination)
    await this.#writer.write(
      instance,
      conversationId === undefined ? update : update.where('conversation_id', '=', conversationId),
    )
  }

  /** Whether the conversation has a message of the customer that came after this row and that no agent has read. */
  async hasNewerUnread(destination: DestinationKey, conversationId: number, id: RowId): Promise<boolean> {
    const newer = unreadIn(this.#database.query, destination, conversationId).select('id').where('id', '>', id)
    return (await this.#database.read(newer.limit(1))).length > 0
  }

  #settleSteps(parts: readonly TickedPart[], change: { ticked?: Tick }) {
    const groups = Map.groupBy(parts, ({ reported }) => reported)
    return [...groups].flatMap(([reported, group]) => {
      if (reported === null) return []
      const update = this.#database.query.updateTable('message_map').set({ ...change, tick_at: null })
      const ids = group.map(({ id }) => id)
      return [update.where('id', 'in', ids).where('reported', '=', reported)]
    })
  }
}

function toTarget(row: Pick<Selectable<MessageMapTable>, (typeof targetColumns)[number]>): ReceiptTarget {
  const { id, destination, chat, kind, direction, reported } = row
  return {
    ...{ id, destination, chat, kind, direction, reported },
    networkId: row.network_id,
    conversationId: row.conversation_id,
    messageId: row.message_id,
  }
}

/** The messages of the network that one message of an agent, or of the owner, consists of. */
export function partsOf({ query }: Database, destination: DestinationKey, messageId: number) {
  return query
    .selectFrom('message_map')
    .select(['id', 'network_id', 'direction', 'reported', 'reported_at', 'ticked', 'tick_at'])
    .where('destination', '=', destination)
    .where('message_id', '=', messageId)
    .where('direction', '<>', 'in')
    .where('kind', '=', 'message')
    .orderBy('id')
}
