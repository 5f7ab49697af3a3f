// Delivers webhooks as Chatwoot does: later, in any order, sometimes twice, never again after a failure.

import type { Desk, HelpdeskEvent } from '../desk/desk.ts'
import { setStatus } from '../desk/update-message.ts'
import { EventLog } from '../../event-log.ts'
import type { JsonSource } from '../json/conversation-json.ts'
import { webhookJson } from '../json/webhook-json.ts'
import type { WebhookBody } from '../json/webhook-json.ts'
import { misfit } from '../schemas/schema-check.ts'
import { AnyEvent } from '../schemas/webhook-schemas.ts'
import type { AccountRow, InboxRow, MessageRow } from '../state/rows.ts'
import type { JobQueue } from './job-queue.ts'
import { postWebhook } from './webhook-client.ts'
import { signatureHeaders } from './webhook-signature.ts'

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
type Target = { url: string; secret: string; marksFailures: boolean }
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
    const { quirks } = settings
    const number = ++this.#events
    const delay = choices.between(quirks.delayMs, 'delay', number)
    const isCreation = event.event === 'message_created'
    if (isCreation && choices.chance(quirks.early, 'early', number)) {
      this.#hold(event.message)
      this.#enqueue(0, event)
    } else {
      const isLate = isCreation && choices.chance(quirks.late, 'late', number)
      this.#enqueue(isLate ? delay + choices.between(quirks.lateMs, 'late by', number) : delay, event)
    }
    if (choices.chance(quirks.twice, 'twice', number)) {
      this.#enqueue(delay + choices.between(quirks.delayMs, 'again', number), event)
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

  #enqueue(delayMs: number, event: HelpdeskEvent): void {
    this.#deps.jobs.enqueue(delayMs, () => this.#dispatch(event))
  }

  async #dispatch(event: HelpdeskEvent): Promise<void> {
    try {
      if (isGone(this.#desk, event)) return
      const body = webhookJson(this.#deps.source, event)
      if (!body) return
      this.#check(body)
      await Promise.all(this.#targets(event).map((target) => this.#deliver(target, event, body)))
    } finally {
      if (event.event === 'message_created') this.#holds.get(event.message)?.release()
    }
  }

  #check(body: WebhookBody): void {
    const reason = misfit(AnyEvent, body)
    if (reason !== undefined) this.#deps.complain(`a ${body.event} webhook that does not fit its schema: ${reason}`)
  }

  #targets(event: HelpdeskEvent): Target[] {
    const { account, inbox } = placeOf(event)
    const targets: Target[] = []
    if (inbox?.channel.webhookUrl) {
      targets.push({ url: inbox.channel.webhookUrl, secret: inbox.channel.secret, marksFailures: true })
    }
    for (const hook of this.#desk.state.accountWebhooks.all()) {
      if (hook.account !== account || !hook.subscriptions.includes(event.event)) continue
      targets.push({ url: hook.url, secret: hook.secret, marksFailures: false })
    }
    return targets
  }

  async #deliver(target: Target, event: HelpdeskEvent, body: WebhookBody): Promise<void> {
    const { clock, choices, settings } = this.#desk
    const deliveryId = choices.uuid('delivery', ++this.#posts)
    const text = JSON.stringify(body)
    const signed = settings.signWebhooks ? signatureHeaders(target.secret, text, clock.now()) : {}
    const { url } = target
    const delivery = { deliveryId, url, event: event.event, body, at: clock.now() }
    try {
      const status = await postWebhook({
        url,
        body: text,
        headers: { 'X-Chatwoot-Delivery': deliveryId, ...signed },
        timeoutMs: settings.webhookTimeoutMs,
        allowPrivateNetwork: settings.allowPrivateNetwork,
        clock,
        signal: this.#abort.signal,
      })
      this.deliveries.add({ ...delivery, status, error: null })
    } catch (error) {
      const reason = (error as Error).message
      this.deliveries.add({ ...delivery, status: Number.parseInt(reason) || 0, error: reason })
      if ((error as Error).name === 'AbortError') this.#enqueue(0, event)
      else if (target.marksFailures && 'message' in event) setStatus(this.#desk, event.message, 'failed', reason)
    }
  }
}

/** Chatwoot silently discards a job whose record is gone. */
function isGone({ state }: Desk, event: HelpdeskEvent): boolean {
  if ('message' in event) return state.messages.get(event.message.id) !== event.message
  if ('conversation' in event) return state.conversations.get(event.conversation.id) !== event.conversation
  return state.contacts.get(event.contact.id) !== event.contact
}

function placeOf(event: HelpdeskEvent): { account: AccountRow; inbox?: InboxRow } {
  if ('contact' in event) return { account: event.contact.account }
  return 'message' in event ? event.message.conversation : event.conversation
}

function describe({ event, body, status, error }: Delivery): string {
  return `${event} ${'id' in body ? body.id : ''} → ${error ?? status}`
}
