// Stores which message of the network is which message at the helpdesk. A message is claimed before it is posted. The commit
// that completes the claim also ends the row of its event, so that no message is posted twice and none is lost.

import type { ChatId, DestinationKey, InstanceName, NetworkMessageId, RowId } from '../../../core/ids.ts'
import type { Anchor } from '../../../core/history/past-events.ts'
import type { MessageKey } from '../../../core/message.ts'
import type { Person } from '../../../core/address.ts'
import type { Hold, NodeHold } from '../../../core/nodes/hold.ts'
import type { Database, EngineName } from '../../database.ts'
import { createFence } from '../fence.ts'
import type { Fence } from '../fence.ts'
import { orphanInstances } from '../orphan-instances.ts'
import { messageMapSecrets } from '../../schema/messages.ts'
import { compileClaimStatements, lightColumns } from './message-map-sql.ts'
import type { LightRow } from './message-map-sql.ts'
import { placeOf, toStatement } from '../../engine/statement.ts'
import type { Scalar, Secret, Statement } from '../../engine/statement.ts'

/** The facts of a message that later quotes, votes, edits and answers need. */
export type MappedContent = {
  /** The text that a quote of the message shows. */
  text?: string
  /** Opens sealed events that refer to the message; base64. */
  secret?: string
  pollOptions?: readonly string[]
  sender?: Person
  /** The text stands for a file, a place or a card: the message cannot be made from it. */
  isFile?: true
  /** For a reaction that we sent: the message that it reacts to. */
  reactsTo?: MessageKey
  /** For a message that we sent: the titles of the choices that it offers. */
  choices?: readonly string[]
}

export type MessageIdentity = {
  instance: InstanceName
  destination: DestinationKey
  chat: ChatId
  /** The id of a person record, or `me`. */
  sender: string
  networkId: NetworkMessageId
  kind: string
}

export type Posting = { conversationId: number; since: number; after: number }

/** A message as the helpdesk has it. `header` is how the message begins there; null when that need not be known later. */
export type PostedAs = { conversationId: number; messageId: number; header?: string | null }

export type NewClaim = MessageIdentity & {
  id: RowId
  direction: 'in' | 'echo' | 'out'
  networkKey: MessageKey
  networkAt: number
  content: MappedContent | null
  posting: Posting
  /** The message is of the history. It counts as read, and as claimed when it was written. */
  isPast?: true
}

export type MappedMessage = MessageIdentity & {
  id: RowId
  direction: 'in' | 'echo' | 'out'
  networkKey: MessageKey
  networkAt: number
  conversationId: number | null
  messageId: number | null
  claimedAt: number
  /** The POST of unknown outcome. */
  posting: Posting | null
  readAt: number | null
}

/**
 * How many old rows leave with one commit. The table has many indexes, and on a large database each old row is read from another place
 * of the disk. On SQLite all writes wait for that commit: with 10 million messages a batch of 20 took 41 ms. On PostgreSQL only the
 * rows themselves are locked, and each batch passes what earlier ones have left in the index.
 */
const prunedAtOnce: Record<EngineName, number> = { sqlite: 5, postgres: 20 }

export class MessageMapStore {
  readonly prunedAtOnce: number
  readonly #database: Database
  readonly #fence: Fence
  readonly #sql: ReturnType<typeof compileClaimStatements>

  constructor(database: Database) {
    this.prunedAtOnce = prunedAtOnce[database.engine]
    this.#database = database
    this.#fence = createFence(database)
    this.#sql = compileClaimStatements(database)
  }

  /**
   * Claims the message unless it is claimed already. Returns what is known under its own id and under `relatedId`, the claim
   * included. One commit does all that is needed before a POST. It also says who wrote into the conversation last: an automatic
   * answer can come before the POST has ended.
   */
  async claim(
    hold: Hold,
    claim: NewClaim,
    relatedId: NetworkMessageId,
  ): Promise<{ fresh: boolean; known: MappedMessage[] }> {
    const { id, instance, destination, chat, sender, networkId, kind, direction, networkAt, posting } = claim
    const times = timesOf(claim)
    const place = placeOf(messageMapSecrets.table, [id], 'content')
    const content = claim.content && { seal: JSON.stringify(claim.content), place }
    const insert = [
      ...[id, instance, destination, chat, sender, networkId, kind, direction, JSON.stringify(claim.networkKey)],
      ...[networkAt, posting.conversationId, times.claimedAt, posting.since, posting.after, times.readAt, content],
    ]
    const { touched, rows } = await this.#database.writeCounting<LightRow>(
      this.#fence(hold),
      statement(this.#sql.claim, insert),
      ...(direction === 'in' ? [statement(this.#sql.noteWriter, [id])] : []),
      statement(this.#sql.related, [instance, networkId, relatedId, id]),
    )
    const others = rows.map(toMapped)
    // Not by the other rows: on PostgreSQL the row that stands in the way may be gone before they are read.
    const [, inserted] = touched
    const fresh = inserted === 1
    return { fresh, known: fresh ? [...others, claimed(claim, times)] : others }
  }

  /** Another POST of a claimed message begins: `isPast` as in its claim, unless the message came live meanwhile. */
  async beginPosting(hold: Hold, id: RowId, posting: Posting, isPast = false): Promise<void> {
    const { conversationId, since, after } = posting
    const begun = { conversation_id: conversationId, posting_since: since, posting_after: after }
    const update = this.#database.query
      .updateTable('message_map')
      .set({ ...begun, read_at: isPast ? since : null })
      .where('id', '=', id)
    await this.#database.write(this.#fence(hold), update, statement(this.#sql.noteWriter, [id]))
  }

  /** The POST under way certainly had no effect, so the next attempt need not search for its message. */
  async endPosting(hold: Hold, id: RowId): Promise<void> {
    const update = this.#database.query.updateTable('message_map').set({ posting_since: null, posting_after: null })
    await this.#database.write(this.#fence(hold), update.where('id', '=', id))
  }

  /** The helpdesk has the message. One commit stores its id there and does the steps that end the row of its event. */
  async complete(hold: Hold, id: RowId, posted: PostedAs, endSteps: readonly Statement[]): Promise<void> {
    const { conversationId, messageId, header = null } = posted
    const completion = statement(this.#sql.complete, [conversationId, messageId, null, null, header, id])
    await this.#database.write(this.#fence(hold), completion, ...endSteps)
  }

  /** The rows of these messages of the network. */
  async findByNetworkId(instance: InstanceName, networkIds: readonly NetworkMessageId[]): Promise<MappedMessage[]> {
    if (networkIds.length === 0) return []
    const query = this.#database.query.selectFrom('message_map').select(lightColumns)
    const rows = await this.#database.read(
      query.where('instance', '=', instance).where('network_id', 'in', networkIds).orderBy('id'),
    )
    return rows.map(toMapped)
  }

  /** The messages of the network behind one at the helpdesk, oldest first. */
  async findByMessage(destination: DestinationKey, messageId: number): Promise<MappedMessage[]> {
    const query = this.#database.query.selectFrom('message_map').select(lightColumns)
    const rows = await this.#database.read(
      query.where('destination', '=', destination).where('message_id', '=', messageId).orderBy('id'),
    )
    return rows.map(toMapped)
  }

  /** Our reactions in the same chat that were sent after this one. */
  async reactionsAfter({ id, instance, chat, claimedAt }: MappedMessage): Promise<RowId[]> {
    const query = this.#database.query.selectFrom('message_map').select('id')
    const later = query
      .where('instance', '=', instance)
      .where('chat', '=', chat)
      .where('direction', '=', 'out')
      .where('claimed_at', '>=', claimedAt)
      .where('kind', '=', 'reaction')
      .where('id', '>', id)
    return (await this.#database.read(later)).map((row) => row.id)
  }

  /**
   * The oldest message of the chat that is known here. Reads one row for each direction: rows are claimed in the order of the
   * network, except for imported ones.
   */
  async oldestOf(instance: InstanceName, chat: ChatId): Promise<Anchor | null> {
    const { query } = this.#database
    const found = await Promise.all(
      (['in', 'echo', 'out'] as const).map((direction) => {
        const ofChat = query.selectFrom('message_map').where('instance', '=', instance).where('chat', '=', chat)
        const messages = ofChat.where('direction', '=', direction).where('kind', '=', 'message')
        return this.#database.read(
          messages.select(['network_key', 'network_at']).orderBy('claimed_at').orderBy('network_at').limit(1),
        )
      }),
    )
    const [oldest] = found.flat().sort((one, other) => one.network_at - other.network_at)
    return oldest ? { key: JSON.parse(oldest.network_key) as MessageKey, at: oldest.network_at } : null
  }

  async contentOf(id: RowId): Promise<MappedContent | null> {
    const query = this.#database.query.selectFrom('message_map').select(['id', 'content']).where('id', '=', id)
    const [row] = await this.#database.read(query, messageMapSecrets)
    return row?.content ? (JSON.parse(Buffer.from(row.content).toString('utf8')) as MappedContent) : null
  }

  /** Removes at most `limit` rows that were claimed before that time. Returns how many there were. */
  async prune(hold: NodeHold, before: number, limit = this.prunedAtOnce): Promise<number> {
    const { query } = this.#database
    const old = query.selectFrom('message_map').select('id').where('claimed_at', '<', before).limit(limit)
    return this.#removeSome(hold, query.deleteFrom('message_map').where('id', 'in', old))
  }

  /** Removes at most `limit` rows of a deleted instance. Returns how many there were. */
  async dropInstance(hold: NodeHold, instance: InstanceName, limit: number): Promise<number> {
    const { query } = this.#database
    const some = query.selectFrom('message_map').select('id').where('instance', '=', instance).limit(limit)
    // An instance of the same name may have been created since the caller asked.
    const record = query.selectFrom('instances').select('name').where('name', '=', instance)
    const removal = query.deleteFrom('message_map').where('id', 'in', some)
    return this.#removeSome(
      hold,
      removal.where((row) => row.not(row.exists(record))),
    )
  }

  /** Instances that do not exist any more but still have rows. */
  orphans(): Promise<InstanceName[]> {
    return orphanInstances(this.#database, 'message_map')
  }

  async #removeSome(hold: NodeHold, removal: Parameters<typeof toStatement>[0]): Promise<number> {
    const [, removed] = await this.#database.write(this.#fence(hold), toStatement(removal))
    return removed ?? 0
  }
}

/** Later code takes the newest claims of a chat for its newest messages. */
function timesOf({ isPast, networkAt, posting: { since } }: NewClaim): { claimedAt: number; readAt: number | null } {
  return isPast ? { claimedAt: Math.min(networkAt, since), readAt: since } : { claimedAt: since, readAt: null }
}

/** The row as the claim has stored it. Reading it back would cost more than storing it. */
function claimed(claim: NewClaim, times: Pick<MappedMessage, 'claimedAt' | 'readAt'>): MappedMessage {
  const { id, instance, destination, chat, sender, networkId, kind, direction, networkKey, networkAt, posting } = claim
  return {
    ...{ id, instance, destination, chat, sender, networkId, kind, direction, networkKey, networkAt, posting },
    ...{ conversationId: posting.conversationId, messageId: null, ...times },
  }
}

function statement(sql: string, parameters: readonly (Scalar | Secret)[]): Statement {
  return { sql, parameters }
}

function toMapped(row: LightRow): MappedMessage {
  const { conversation_id, posting_since, posting_after } = row
  const open = conversation_id !== null && posting_since !== null
  return {
    id: row.id,
    instance: row.instance,
    destination: row.destination,
    chat: row.chat,
    sender: row.sender,
    networkId: row.network_id,
    kind: row.kind,
    direction: row.direction,
    networkKey: JSON.parse(row.network_key) as MessageKey,
    networkAt: row.network_at,
    conversationId: conversation_id,
    messageId: row.message_id,
    claimedAt: row.claimed_at,
    posting: open ? { conversationId: conversation_id, since: posting_since, after: posting_after ?? 0 } : null,
    readAt: row.read_at,
  }
}
