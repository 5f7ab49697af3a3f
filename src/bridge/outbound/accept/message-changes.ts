// Messages that changed at the helpdesk after they were handed to us: deleted, or asked for again.

import type { MessageKey } from '../../../core/message.ts'
import type { OutgoingContent } from '../../../core/network.ts'
import { sleep } from '../../../lib/clock.ts'
import type { Clock } from '../../../lib/clock.ts'
import type { Log } from '../../../lib/log.ts'
import type { MappedMessage, MessageMapStore } from '../../../storage/stores/messages/message-map-store.ts'
import type { OutboxTransitions } from '../../../storage/stores/messages/outbox-transitions.ts'
import type { OutboxRow } from '../../../storage/stores/messages/outbox-rows.ts'
import type { OutboxStore } from '../../../storage/stores/messages/outbox-store.ts'
import { StorageError } from '../../../storage/engine/statement.ts'
import type { OwnerOf } from '../../conversations/conversation-owner.ts'
import type { Route } from '../../conversations/route.ts'
import type { OutboxWorker } from '../queue/outbox-worker.ts'
import type { ChangeCommand } from './commands.ts'
import type { Retries } from './retries.ts'
import { callbackKey, deletedReason, otherInbox } from './commands.ts'

type Deps = {
  outbox: Pick<OutboxStore, 'ofMessage' | 'enqueue' | 'settleAhead'>
  transitions: Pick<OutboxTransitions, 'cancel'>
  map: Pick<MessageMapStore, 'findByMessage' | 'contentOf' | 'reactionsAfter'>
  retries: Pick<Retries, 'noteRequest'>
  worker: Pick<OutboxWorker, 'submit' | 'drop'>
  ownerOf: OwnerOf
  isReady: (instance: string) => boolean
  newId: () => string
  clock: Clock
  log: Log
}

const storagePauseMs = 5000

export class MessageChanges {
  readonly #deps: Deps
  readonly #stop = new AbortController()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Resolves when what is to be done is stored. The helpdesk tells it once, so a database in trouble is tried again. */
  async follow(route: Route, command: ChangeCommand, receivedAt: number): Promise<void> {
    const { retries, clock, log } = this.#deps
    while (!this.#stop.signal.aborted) {
      try {
        if (!command.deleted) await retries.noteRequest(route, command, receivedAt)
        else if (!otherInbox(route.destination, command.place)) await this.#takeBack(route, command)
        return
      } catch (err) {
        if (!(err instanceof StorageError)) throw err
        const { name: instance } = route.sender
        log.error(
          { err, instance, message_id: command.messageId },
          'a changed message could not be stored, trying again',
        )
        await sleep(clock, storagePauseMs, this.#stop.signal)
      }
    }
  }

  [Symbol.dispose](): void {
    this.#stop.abort()
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

  /** A reaction is not revoked: an empty one takes its place, unless a newer one has done so already. */
  async #undoing(mapped: MappedMessage): Promise<OutgoingContent | null> {
    const { id, kind, networkKey } = mapped
    if (kind === 'message') return { type: 'revoke', target: networkKey }
    const target = kind === 'reaction' ? await this.#reactedTo(id) : undefined
    if (!target) return null
    for (const later of await this.#deps.map.reactionsAfter(mapped)) {
      const other = await this.#reactedTo(later)
      if (other?.id === target.id && other.fromMe === target.fromMe) return null
    }
    return { type: 'reaction', target, emoji: '' }
  }

  async #reactedTo(id: string): Promise<MessageKey | undefined> {
    return (await this.#deps.map.contentOf(id))?.reactsTo
  }

  async #takeBack(route: Route, { place, messageId }: ChangeCommand): Promise<void> {
    const { outbox, transitions, worker, clock } = this.#deps
    const { sender, destination } = await this.#deps.ownerOf(route, place.conversationId)
    if (!destination) return
    const { key } = destination
    const isUnheard = !(await outbox.ofMessage(key, messageId)) && (await this.#sentKeys(key, messageId)).length === 0
    // The deletion can be told before the message, which must find it then.
    const callback = callbackKey(sender.name, destination, messageId)
    if (isUnheard && callback && (await outbox.settleAhead(callback, clock.now()))) return
    let row = await outbox.ofMessage(key, messageId)
    // Not cancelled: it has just moved on, and may have left.
    while (row?.status === 'pending' && !(await transitions.cancel(row, deletedReason, clock.now()))) {
      row = await outbox.ofMessage(key, messageId)
    }
    if (row?.status === 'pending') worker.drop(row)
    const [sent] = await this.#sentKeys(key, messageId)
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

  async #sentKeys(destination: string, messageId: number): Promise<MappedMessage[]> {
    const mapped = await this.#deps.map.findByMessage(destination, messageId)
    return mapped.filter(({ direction }) => direction === 'out')
  }

  /**
   * In the lane of its chat, so that it comes after what it takes back. It neither expires nor counts as waiting: the agent
   * cannot ask for it again.
   */
  async #queueRevoke(
    destination: string,
    messageId: number,
    where: Pick<OutboxRow, 'instance' | 'owner_tag' | 'inbox_id' | 'chat' | 'remote_jid'>,
  ): Promise<void> {
    const { outbox, worker, isReady, newId, clock } = this.#deps
    const { instance, chat } = where
    const pace = { waiting: 0, drained: isReady(instance) ? 0 : 1, expires_at: null }
    const row = { id: newId(), kind: 'revoke' as const, ...where, destination, ...pace }
    const bare = { conversation_id: null, message_id: null, fingerprint: null, created_at: clock.now() }
    const callback = { instance, destination, kind: 'message_deleted', event_id: messageId }
    const stored = await outbox.enqueue({ ...row, ...bare, payload: { type: 'revoke', messageId } }, callback)
    if (stored === 'accepted') worker.submit({ id: row.id, instance, chat })
  }
}
