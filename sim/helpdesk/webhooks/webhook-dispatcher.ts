// Delivers webhooks as Chatwoot does: a dispatcher job builds the body, a worker posts it later. Several workers post at
// the same time, so callbacks swap. A failed delivery is not repeated, except to a bot.

import { runAutomations } from '../desk/automation.ts'
import { changeConversation } from '../desk/change-conversation.ts'
import type { Desk, HelpdeskEvent } from '../desk/desk.ts'
import { setStatus } from '../desk/update-message.ts'
import { EventLog } from '../../event-log.ts'
import type { JsonSource } from '../json/conversation-json.ts'
import { asOlderJson } from '../json/older-json.ts'
import { railsJson } from '../json/rails-json.ts'
import { webhookJson } from '../json/webhook-json.ts'
import type { WebhookBody } from '../json/webhook-json.ts'
import { misfit } from '../schemas/schema-check.ts'
import { AnyEvent } from '../schemas/webhook-schemas.ts'
import type { MessageRow } from '../state/rows.ts'
import { botRetryMs, eventDelay, isOvertakenByReply, overtakenMs, postDelay } from './delivery-delays.ts'
import type { JobQueue } from './job-queue.ts'
import { postWebhook } from './webhook-client.ts'
import { headersFor, isGone, isHeard, targetsOf } from './webhook-targets.ts'
import type { Target } from './webhook-targets.ts'

/** One attempt. Status 0 means that there was no answer. */
export type Delivery = {
  deliveryId: string
  url: string
  event: WebhookBody['event']
  body: WebhookBody
  at: number
  status: number
  error: string | null
}

type Deps = { source: JsonSource; jobs: JobQueue; complain: (what: string) => void }
/** `number` counts the events, and `tries` the earlier attempts. */
type Post = { target: Target; number: number; event: HelpdeskEvent; body: WebhookBody; tries?: number }
type Hold = { promise: Promise<void>; release: () => void }

export class WebhookDispatcher {
  readonly deliveries = new EventLog<Delivery>('webhook deliveries', describe, 5000)
  readonly #deps: Deps
  readonly #holds = new Map<MessageRow, Hold>()
  #abort = new AbortController()
  #events = 0
  #posts = 0

  constructor(deps: Deps) {
    this.#deps = deps
  }

  emit(event: HelpdeskEvent): void {
    const { choices, settings } = this.#desk
    if (!isHeard(this.#desk, event)) return
    const { quirks } = settings
    const number = ++this.#events
    const delay = eventDelay(this.#desk, event, number)
    if (event.event === 'message_created' && choices.chance(quirks.early, 'early', number)) {
      this.#hold(event.message)
      this.#enqueue(0, event, number)
    } else {
      this.#enqueue(delay, event, number)
    }
    if (choices.chance(quirks.twice, 'twice', number)) {
      this.#enqueue(delay + choices.between(quirks.delayMs, 'again', number), event, number)
    }
  }

  /** Resolves at once. For a message with an early webhook it resolves after that webhook. */
  answerable(message: MessageRow): Promise<void> {
    return this.#holds.get(message)?.promise ?? Promise.resolve()
  }

  /** Aborts the running deliveries. A worker that stops puts its jobs back, so these events are delivered again. */
  abort(): void {
    this.#abort.abort()
    this.#abort = new AbortController()
    for (const hold of this.#holds.values()) hold.release()
  }

  /** Forgets all deliveries. */
  reset(): void {
    this.abort()
    this.deliveries.clear()
    this.#events = 0
    this.#posts = 0
  }

  get #desk(): Desk {
    return this.#deps.source.desk
  }

  #hold(message: MessageRow): void {
    const { promise, resolve } = Promise.withResolvers<undefined>()
    const release = () => {
      cancel()
      this.#holds.delete(message)
      resolve(undefined)
    }
    const cancel = this.#desk.clock.after(this.#desk.settings.quirks.earlyHoldMs, release)
    this.#holds.set(message, { promise, release })
  }

  #enqueue(delayMs: number, event: HelpdeskEvent, number: number): void {
    this.#deps.jobs.enqueue(
      delayMs,
      () => {
        this.#dispatch(event, number)
      },
      'critical',
    )
  }

  /** The listeners of one event: automation rules answer first, then the webhooks are built. */
  #dispatch(event: HelpdeskEvent, number: number): void {
    if (isGone(this.#desk, event)) return
    const replies = 'message' in event ? runAutomations(this.#desk, event) : 0
    const body = webhookJson(this.#deps.source, event)
    if (!body) return
    this.#check(body)
    const older = asOlderJson(this.#desk.features, body) as WebhookBody
    for (const target of targetsOf(this.#desk, event)) {
      const post = { target, number, event, body: older }
      if (replies > 0 && isOvertakenByReply(this.#desk, event)) {
        this.#deps.jobs.enqueue(overtakenMs(this.#desk), () => this.#deliver(post))
      } else {
        this.#deps.jobs.enqueueNow(() => this.#deliver(post))
      }
    }
  }

  #check(body: WebhookBody): void {
    const reason = misfit(AnyEvent, body)
    if (reason !== undefined) this.#deps.complain(`a ${body.event} webhook that does not fit its schema: ${reason}`)
  }

  async #deliver(post: Post): Promise<void> {
    const { event } = post
    try {
      await this.#post(post)
    } finally {
      if (event.event === 'message_created') this.#holds.get(event.message)?.release()
    }
  }

  async #post(post: Post): Promise<void> {
    const { target, event, body } = post
    const { choices, clock, features, settings } = this.#desk
    const { signal } = this.#abort
    await this.#wait(postDelay(this.#desk, post.number))
    const deliveryId = choices.uuid('delivery', ++this.#posts)
    const text = railsJson(body)
    const { url } = target
    const delivery = { deliveryId, url, event: event.event, body, at: clock.now() }
    try {
      const status = await postWebhook({
        url,
        body: text,
        headers: headersFor(this.#desk, target, text, deliveryId),
        timeoutMs: settings.webhookTimeoutMs,
        allowPrivateNetwork: settings.allowPrivateNetwork,
        safeFetch: features.safeFetch,
        clock,
        signal,
      })
      this.deliveries.add({ ...delivery, status, error: null })
    } catch (error) {
      const reason = (error as Error).message
      this.deliveries.add({ ...delivery, status: Number.parseInt(reason) || 0, error: reason })
      if ((error as Error).name === 'AbortError') this.#repeat(post)
      else if (target.kind === 'bot') this.#callBotAgain(post, reason)
      else if (target.kind === 'inbox' && 'message' in event) await this.#markFailed(event.message, reason)
    }
  }

  #repeat(post: Post): void {
    this.#deps.jobs.enqueueNow(() => (isGone(this.#desk, post.event) ? undefined : this.#deliver(post)))
  }

  /** When a bot has failed for good, the conversation of the message is handed to the agents. */
  #callBotAgain(post: Post, reason: string): void {
    const { tries = 0, event } = post
    const gap = botRetryMs(reason, tries)
    if (gap !== undefined) this.#deps.jobs.enqueue(gap, () => this.#deliver({ ...post, tries: tries + 1 }))
    else if ('message' in event && event.message.conversation.status === 'pending') {
      changeConversation(this.#desk, event.message.conversation, { status: 'open' }, 'failing bot')
    }
  }

  /** Chatwoot marks the message by itself, long before the bridge can say its own reason. */
  async #markFailed(message: MessageRow, reason: string): Promise<void> {
    const { choices, settings } = this.#desk
    await this.#wait(choices.between(settings.quirks.failureMs, 'failure', message.id, this.#posts))
    setStatus(this.#desk, message, 'failed', reason)
  }

  /** Ends early when the deliveries are aborted. */
  async #wait(ms: number): Promise<void> {
    if (ms <= 0) return
    const { signal } = this.#abort
    const { promise, resolve } = Promise.withResolvers<undefined>()
    const end = () => {
      resolve(undefined)
    }
    const cancel = this.#desk.clock.after(ms, end)
    signal.addEventListener('abort', end)
    await promise
    cancel()
    signal.removeEventListener('abort', end)
  }
}

function describe({ event, body, status, error }: Delivery): string {
  return `${event} ${'id' in body ? body.id : ''} → ${error ?? status}`
}
