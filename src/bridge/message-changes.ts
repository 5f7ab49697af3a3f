// Messages that changed at the helpdesk after they were handed to us: deleted, or asked for again.

import type { Destination, Downstream, OutgoingCommand } from '../core/downstream.ts'
import type { OutgoingContent } from '../core/network.ts'
import { waitingLifetimeMs } from '../core/outbox.ts'
import type { OutboxPart } from '../core/outbox.ts'
import type { Clock } from '../lib/clock.ts'
import type { MappedMessage, MessageMapStore } from '../storage/message-map-store.ts'
import type { OutboxMoves } from '../storage/outbox-moves.ts'
import type { OutboxRow } from '../storage/outbox-rows.ts'
import type { OutboxStore } from '../storage/outbox-store.ts'
import type { OutboxWorker } from './outbox-worker.ts'

export type ChangeCommand = Extract<OutgoingCommand, { kind: 'changed' }>

type Deps = {
  outbox: Pick<OutboxStore, 'ofMessage' | 'enqueue'>
  moves: Pick<OutboxMoves, 'cancel' | 'retry'>
  map: Pick<MessageMapStore, 'findByMessage' | 'contentOf'>
  downstream: Pick<Downstream, 'inbox'>
  worker: Pick<OutboxWorker, 'submit'>
  isReady: (instance: string) => boolean
  newId: () => string
  clock: Clock
}

const deletedReason = 'deleted at the helpdesk before it was sent'

export class MessageChanges {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  async follow(destination: Destination, command: ChangeCommand, receivedAt: number): Promise<void> {
    const row = await this.#deps.outbox.ofMessage(destination.key, command.messageId)
    if (command.deleted) await this.#takeBack(destination, command.messageId, row)
    else if (row) await this.#sendAgain(destination, command, row, receivedAt)
  }

  /** What takes back everything on the network that was, or may have been, sent for a message. */
  async takingBack(destination: string, messageId: number): Promise<OutgoingContent[]> {
    const { map, outbox } = this.#deps
    const mapped = (await map.findByMessage(destination, messageId)).filter(({ direction }) => direction === 'out')
    const known = new Set(mapped.map(({ networkId }) => networkId))
    const row = await outbox.ofMessage(destination, messageId)
    const doubtful = (row?.parts ?? []).filter(({ id, state }) => state === 'unknown' && id !== '' && !known.has(id))
    const chat = row?.remote_jid ?? ''
    return [
      ...(await Promise.all(mapped.map((each) => this.#undoing(each)))).filter((each) => each !== null),
      ...doubtful.map(({ id }) => ({ type: 'revoke' as const, target: { chat, id, fromMe: true, participant: null } })),
    ]
  }

  /** A reaction is not revoked: an empty one takes its place. */
  async #undoing({ id, kind, networkKey }: MappedMessage): Promise<OutgoingContent | null> {
    if (kind === 'message') return { type: 'revoke', target: networkKey }
    const target = kind === 'reaction' ? (await this.#deps.map.contentOf(id))?.reactsTo : undefined
    return target ? { type: 'reaction', target, emoji: '' } : null
  }

  async #takeBack({ key }: Destination, messageId: number, row: OutboxRow | undefined): Promise<void> {
    const { moves, map, clock } = this.#deps
    if (row?.status === 'pending') await moves.cancel(row, deletedReason, clock.now())
    const [sent] = (await map.findByMessage(key, messageId)).filter(({ direction }) => direction === 'out')
    const isDoubtful = row?.status === 'sending' || row?.unconfirmed === 1
    if (!sent && !isDoubtful) return
    await this.#queueRevoke(key, messageId, {
      instance: sent?.instance ?? row?.instance ?? '',
      owner_tag: row?.owner_tag ?? '',
      inbox_id: row?.inbox_id ?? 0,
      chat: sent?.chat ?? row?.chat ?? '',
      remote_jid: sent?.networkKey.chat ?? row?.remote_jid ?? '',
    })
  }

  /** In the lane of its chat, so that it comes after what it takes back. */
  async #queueRevoke(
    destination: string,
    messageId: number,
    where: Pick<OutboxRow, 'instance' | 'owner_tag' | 'inbox_id' | 'chat' | 'remote_jid'>,
  ): Promise<void> {
    const { outbox, worker, newId, clock } = this.#deps
    const { instance, chat } = where
    const row = { id: newId(), kind: 'revoke' as const, ...where, destination, ...this.#waiting(instance) }
    const bare = { conversation_id: null, message_id: null, fingerprint: null, created_at: clock.now() }
    const callback = { instance, destination, kind: 'message_deleted', event_id: messageId }
    const stored = await outbox.enqueue({ ...row, ...bare, payload: { type: 'revoke', messageId } }, callback)
    if (stored === 'accepted') worker.submit({ id: row.id, instance, chat })
  }

  /** Only for what failed with us, after the helpdesk knew of it, and when it shows the message as sent again. */
  async #sendAgain(
    destination: Destination,
    { messageId, externalError }: ChangeCommand,
    row: OutboxRow,
    receivedAt: number,
  ): Promise<void> {
    const { moves, downstream, worker } = this.#deps
    const isOver = row.status === 'failed' || row.status === 'expired' || row.status === 'refused'
    const wasTold = row.report === 'done' && row.report_at !== null && row.report_at <= receivedAt
    if (!isOver || !wasTold || externalError || row.conversation_id === null) return
    const shown = await downstream.inbox(destination).findMessage(row.conversation_id, messageId)
    if (shown?.status !== 'sent') return
    if (await moves.retry(row, partsAgain(row.parts), this.#waiting(row.instance))) worker.submit(row)
  }

  #waiting(instance: string) {
    const { isReady, clock } = this.#deps
    if (isReady(instance)) return { waiting: 0, drained: 0, expires_at: null }
    return { waiting: 1, drained: 1, expires_at: clock.now() + waitingLifetimeMs }
  }
}

/** What is known not to be sent gets a new id; what may have arrived keeps its own, so that it is shown once. */
function partsAgain(parts: readonly OutboxPart[]): OutboxPart[] {
  if (!parts.some(({ state }) => state === 'sent' || state === 'unknown')) return []
  return parts.map((part) =>
    part.state === 'sent' || part.state === 'unknown' ? part : { id: '', of: part.of, state: 'new' },
  )
}
