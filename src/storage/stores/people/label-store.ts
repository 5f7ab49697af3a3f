// Stores the labels that an account has at the network, and which chats have them.

import type { InstanceName, Jid } from '../../../core/ids.ts'
import type { HoldOf } from '../../../core/nodes/hold.ts'
import type { Database } from '../../database.ts'
import { FencedWriter } from '../fenced-writer.ts'
import { dueSteps } from './label-agreement-store.ts'
import type { DueMarks } from './label-agreement-store.ts'

/** `title` is how the helpdesk calls the label; null when the label was deleted. */
export type StoredLabel = { id: string; name: string; title: string | null }

export type LabelledChat = { jid: Jid; labelId: string }

export type LabelUpdate = {
  labels: readonly StoredLabel[]
  labelled: readonly LabelledChat[]
  unlabelled: readonly LabelledChat[]
  /** The labelled chats are all that there are. */
  isWhole: boolean
}

/** An engine takes 32,766 values at most, and a row has four. */
const rowsAtOnce = 2000

export class LabelStore {
  readonly #database: Database
  readonly #writer: FencedWriter

  constructor(database: Database, holdOf: HoldOf) {
    this.#database = database
    this.#writer = new FencedWriter(database, holdOf)
  }

  /** All labels of the account, also those that were deleted. */
  async labels(instance: InstanceName): Promise<StoredLabel[]> {
    const query = this.#database.query.selectFrom('labels').select(['label_id', 'name', 'title'])
    const rows = await this.#database.read(query.where('instance', '=', instance))
    return rows.map(({ label_id: id, name, title }) => ({ id, name, title }))
  }

  /** The labels of the chats with these addresses. */
  async labelsOf(instance: InstanceName, jids: readonly Jid[]): Promise<LabelledChat[]> {
    if (jids.length === 0) return []
    const query = this.#labelledChats(instance).where('jid', 'in', jids)
    return (await this.#database.read(query)).map(toLabelledChat)
  }

  /** The chats with one of these labels. */
  async chatsWith(instance: InstanceName, labelIds: readonly string[]): Promise<LabelledChat[]> {
    if (labelIds.length === 0) return []
    const query = this.#labelledChats(instance).where('label_id', 'in', labelIds)
    return (await this.#database.read(query)).map(toLabelledChat)
  }

  /** All labelled chats of the account. */
  async labelledChats(instance: InstanceName): Promise<LabelledChat[]> {
    return (await this.#database.read(this.#labelledChats(instance))).map(toLabelledChat)
  }

  /** In one commit with the marks of the chats that must be looked at because of it. */
  async update(instance: InstanceName, update: LabelUpdate, due: DueMarks): Promise<void> {
    const { labels, labelled, unlabelled, isWhole } = update
    const chats = this.#database.query.deleteFrom('labelled_chats').where('instance', '=', instance)
    const removals = unlabelled.map(({ jid, labelId }) => chats.where('jid', '=', jid).where('label_id', '=', labelId))
    await this.#writer.write(
      instance,
      ...inPieces(labels).map((piece) => this.#saveLabels(instance, piece)),
      ...(isWhole ? [chats] : removals),
      ...inPieces(labelled).map((piece) => this.#saveChats(instance, piece)),
      ...dueSteps(this.#database, instance, due),
    )
  }

  #labelledChats(instance: InstanceName) {
    const query = this.#database.query.selectFrom('labelled_chats').select(['jid', 'label_id'])
    return query.where('instance', '=', instance)
  }

  #saveLabels(instance: InstanceName, labels: readonly StoredLabel[]) {
    const rows = labels.map(({ id, name, title }) => ({ instance, label_id: id, name, title }))
    return this.#database.query
      .insertInto('labels')
      .values(rows)
      .onConflict((conflict) =>
        conflict
          .columns(['instance', 'label_id'])
          .doUpdateSet((eb) => ({ name: eb.ref('excluded.name'), title: eb.ref('excluded.title') })),
      )
  }

  #saveChats(instance: InstanceName, chats: readonly LabelledChat[]) {
    const rows = chats.map(({ jid, labelId }) => ({ instance, jid, label_id: labelId }))
    const insert = this.#database.query.insertInto('labelled_chats').values(rows)
    return insert.onConflict((conflict) => conflict.doNothing())
  }
}

function inPieces<Row>(rows: readonly Row[]): Row[][] {
  const count = Math.ceil(rows.length / rowsAtOnce)
  return Array.from({ length: count }, (_, n) => rows.slice(n * rowsAtOnce, (n + 1) * rowsAtOnce))
}

function toLabelledChat({ jid, label_id: labelId }: { jid: Jid; label_id: string }): LabelledChat {
  return { jid, labelId }
}
