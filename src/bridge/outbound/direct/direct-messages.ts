// Sends messages for programs: to a number or a chat, without a conversation at the helpdesk.
//
// A direct message takes the way of an agent's message from here on: the same lane of its chat, the same guards, the same
// outbox. The commit that stores its row stores the key of the request too, so a repeat sends nothing. The helpdesk gets the
// message after the network has acknowledged it (send/sent-records.ts).

import { chatJid } from '../../../core/address.ts'
import type { Chat } from '../../../core/address.ts'
import { BridgeError } from '../../../core/errors.ts'
import type { InstanceName, NetworkMessageId } from '../../../core/ids.ts'
import type { DirectContent } from '../../../core/outbox.ts'
import type { ChatLanes } from '../../../lib/queues/chat-lanes.ts'
import { KeyedLanes } from '../../../lib/queues/keyed-lanes.ts'
import type { MessageMapStore } from '../../../storage/stores/messages/message-map-store.ts'
import type { RequestKey } from '../../../storage/stores/messages/settled-callbacks.ts'
import type { Route, RouteOf } from '../../conversations/route.ts'
import type { Accepted, AnswerInTime, Deadline } from '../accept/answer-in-time.ts'
import type { OtherNodes } from '../accept/message-acceptor.ts'
import type { MessageStorage } from '../accept/message-storage.ts'
import type { DirectAnswer, SendAnswer } from '../accept/send-answer.ts'
import type { SendGuards } from '../accept/send-guards.ts'
import type { ChatRef, Recipients } from '../send/recipients.ts'
import type { DirectRows } from './direct-rows.ts'
import type { RequestAnswers } from './request-answers.ts'

const answerWithinMs = 4000

export type DirectMessage = { to: Chat; content: DirectContent; quote?: NetworkMessageId | null }

type Deps = {
  routeOf: RouteOf
  isLinked: (instance: InstanceName) => boolean
  recipients: Pick<Recipients, 'refOf'>
  map: Pick<MessageMapStore, 'findByNetworkId'>
  requests: Pick<RequestAnswers, 'keyOf' | 'find'>
  guards: Pick<SendGuards, 'check'>
  rows: Pick<DirectRows, 'create'>
  storage: Pick<MessageStorage, 'store'>
  answers: Pick<AnswerInTime, 'within' | 'listen'>
  others: Pick<OtherNodes, 'catchUp'>
  /** Shared with everything that accepts messages. */
  lanes: Pick<ChatLanes, 'run'>
}

export class DirectMessages {
  readonly #deps: Deps
  /** Requests with one key are handled one after the other. */
  readonly #keys = new KeyedLanes()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /**
   * Answers within `withinMs`; a message without an outcome by then is queued. A repeat of a request with the same key within
   * 24 hours sends nothing. The key stays free when the message is not accepted.
   * Throws a BridgeError: SERVICE_INSTANCE_NOT_FOUND, SERVICE_NOT_READY, SERVICE_QUOTE_NOT_FOUND, SERVICE_KEY_REUSED.
   */
  send(
    instance: InstanceName,
    message: DirectMessage,
    { key, withinMs = answerWithinMs }: { key?: string | undefined; withinMs?: number } = {},
  ): Promise<DirectAnswer> {
    if (key === undefined) return this.#send(instance, message, null, withinMs)
    const { requests } = this.#deps
    const asked = JSON.stringify([chatJid(message.to), message.content, message.quote ?? null])
    const request = requests.keyOf(instance, key, asked)
    return this.#keys.run(`${instance} ${key}`, async () => {
      return (await requests.find(request, asked)) ?? this.#send(instance, message, request, withinMs)
    })
  }

  async #send(
    instance: InstanceName,
    message: DirectMessage,
    key: RequestKey | null,
    withinMs: number,
  ): Promise<DirectAnswer> {
    const { routeOf, isLinked, recipients, answers } = this.#deps
    const route = await routeOf(instance)
    if (!route) throw new BridgeError('SERVICE_INSTANCE_NOT_FOUND', `there is no instance "${instance}"`)
    if (!isLinked(instance)) throw notLinked()
    const ref = await recipients.refOf(instance, message.to)
    if (message.quote != null) await this.#assertKnown(instance, ref, message.quote)
    const answer = await answers.within(withinMs, (deadline) => this.#accept(route, ref, { message, key, deadline }))
    if (answer.kind === 'ignored' || answer.kind === 'undeliverable')
      throw new Error('a request with a free key is settled')
    return answer
  }

  #accept(
    route: Route,
    found: ChatRef,
    { message, key, deadline }: { message: DirectMessage; key: RequestKey | null; deadline: Deadline },
  ): Promise<Accepted | SendAnswer> {
    const { guards, rows, storage, answers, others, lanes } = this.#deps
    const { name } = route.sender
    const { content, quote = null } = message
    return lanes.run(name, found.chatId, async (chatId) => {
      const row = rows.create(route, { ...found, chatId }, { type: 'direct', content, quote })
      const refusal = await guards.check(route.sender, row, { key, deadline })
      if (refusal) return refusal
      await others.catchUp(name)
      const { listener, outcome } = answers.listen(name)
      const message = { row, key, prepared: undefined, listener, turn: undefined, destination: null }
      const stored = await storage.store(message, deadline)
      return stored === 'accepted' ? { row, outcome, address: found.jid, hasUnread: false } : stored
    })
  }

  async #assertKnown(instance: InstanceName, { chatId }: ChatRef, quote: NetworkMessageId): Promise<void> {
    const found = await this.#deps.map.findByNetworkId(instance, [quote])
    if (found.some(({ chat }) => chat === chatId)) return
    throw new BridgeError('SERVICE_QUOTE_NOT_FOUND', 'quote names no known message of this chat: leave it out')
  }
}

function notLinked(): BridgeError {
  const sentence = 'no WhatsApp account is linked to the instance: link one, then send the message again'
  return new BridgeError('SERVICE_NOT_READY', sentence)
}
