// Keeps the history that the phone sends, until a job imports it. Hears the history from the network.

import type { Chat } from '../../core/address.ts'
import { personJid } from '../../core/address.ts'
import type { Anchor, HistoryReception, PastCause, PastChat, PastEvent } from '../../core/history/past-events.ts'
import type { InstanceName, Jid, RowId } from '../../core/ids.ts'
import type { PerInstance } from '../../core/per-instance.ts'
import type { HoldOf } from '../../core/nodes/hold.ts'
import type { People } from '../../bridge/people/people.ts'
import type { Clock } from '../../lib/clock.ts'
import { KeyedLanes } from '../../lib/queues/keyed-lanes.ts'
import type { HistoryStore } from '../../storage/stores/history/history-store.ts'
import type { NewHistoryRow } from '../../storage/stores/history/keep-statements.ts'
import type { PairingImport } from './pairing-import.ts'

type Deps = {
  /** False while imports are switched off: nothing is kept. */
  isOn: boolean
  store: Pick<HistoryStore, 'keep'>
  people: Pick<People, 'upsert'>
  pairing: Pick<PairingImport, 'kept' | 'ended'>
  isIgnored: (instance: InstanceName, chat: Chat) => boolean
  holdOf: HoldOf
  newId: () => RowId
  clock: Pick<Clock, 'now'>
}

/**
 * No import goes back further. Messages of a pairing are kept as long, although its own import may be asked for fewer days: the
 * phone sends them only once, and a later request may ask for all of them.
 */
export const keptMs = 30 * 86_400_000

/** A commit holds up other writes, so a large piece takes several. */
const rowsPerCommit = 500

export class KeptHistory implements HistoryReception, PerInstance {
  readonly #deps: Deps
  readonly #lanes = new KeyedLanes()
  readonly #taken = new Set<InstanceName>()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  take(instance: InstanceName): void {
    this.#taken.add(instance)
  }

  /** Resolves when no piece of the instance is being stored any more. A later piece is refused. */
  async leave(instance: InstanceName): Promise<void> {
    this.#taken.delete(instance)
    await this.#lanes.run(instance, () => Promise.resolve())
  }

  keepsSince(): number | null {
    const { isOn, clock } = this.#deps
    return isOn ? clock.now() - keptMs : null
  }

  onPastEvents(instance: InstanceName, cause: PastCause, chats: readonly PastChat[]): Promise<void> {
    return this.#lanes.run(instance, async () => {
      const { isOn, isIgnored, pairing } = this.#deps
      if (!isOn) return
      if (!this.#taken.has(instance)) throw new Error('the instance is not served by this process any more')
      const shown = chats.filter(({ chat }) => !isIgnored(instance, chat))
      const count = await this.#keep(instance, shown)
      await this.#learnPairs(instance, shown)
      if (cause === 'pairing' && count > 0) await pairing.kept(instance)
    })
  }

  onPastProgress(instance: InstanceName, { isLast }: { isLast: boolean }): void {
    if (isLast) this.#deps.pairing.ended(instance)
  }

  /** Returns how many messages it has kept. */
  async #keep(instance: InstanceName, chats: readonly PastChat[]): Promise<number> {
    const { store, holdOf } = this.#deps
    const rows = chats.flatMap((chat) => chat.events.map((event) => this.#toRow(chat, event)))
    const anchors = oldestOf(chats)
    let left = rows
    // The anchors come last: an anchor says that the messages behind it are stored.
    for (; left.length > rowsPerCommit; left = left.slice(rowsPerCommit)) {
      await store.keep(holdOf(instance), left.slice(0, rowsPerCommit), new Map())
    }
    if (left.length > 0 || anchors.size > 0) await store.keep(holdOf(instance), left, anchors)
    return rows.length
  }

  #toRow({ jid, chat }: PastChat, { event, position }: PastEvent): NewHistoryRow {
    const author = event.address?.participant ?? personJid(event.sender)
    return { id: this.#deps.newId(), chatJid: jid, participant: chat.kind === 'group' ? author : '', position, event }
  }

  /** The phone may keep a chat under the phone number and under the anonymous id. Both become one chat. */
  async #learnPairs(instance: InstanceName, chats: readonly PastChat[]): Promise<void> {
    for (const { chat, events } of chats) {
      if (chat.kind !== 'person' || events.length === 0 || chat.phone === null || chat.lid === null) continue
      await this.#deps.people.upsert(instance, { phone: chat.phone, lid: chat.lid })
    }
  }
}

/** A chat may come several times in a piece. */
function oldestOf(chats: readonly PastChat[]): Map<Jid, Anchor> {
  const anchors = new Map<Jid, Anchor>()
  for (const { jid, oldest } of chats) {
    if (oldest && oldest.at < (anchors.get(jid)?.at ?? Infinity)) anchors.set(jid, oldest)
  }
  return anchors
}
