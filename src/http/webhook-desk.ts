// The door of the helpdesk's callbacks: who may knock, what a callback means, and an answer in time.

import type { IncomingHttpHeaders } from 'node:http'
import type { AgentActivity } from '../bridge/agent-activity.ts'
import type { MessageChanges } from '../bridge/message-changes.ts'
import type { Outbound, Routed } from '../bridge/outbound.ts'
import type { OutgoingCommand } from '../core/downstream.ts'
import { BridgeError } from '../core/errors.ts'
import { namedInstance } from '../core/operations-contact.ts'
import { readCallback } from '../downstream/callback.ts'
import { isSigned } from '../downstream/signature.ts'
import type { InstanceRegistry } from '../instances/instance-registry.ts'
import { withDeadline } from '../lib/clock.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { Routing } from '../tenants/routing.ts'
import type { WebhookAnswer } from './webhook-reply.ts'

// The helpdesk hangs up after 5 s and takes that for a failure.
const answerWithinMs = 4000
// Leaves time to say so when the decision was not made in time.
const decideWithinMs = 3800

type Deps = {
  instances: Pick<InstanceRegistry, 'find'>
  routing: Pick<Routing, 'destinationOf' | 'webhookSecretOf'>
  outbound: Pick<Outbound, 'send'>
  changes: Pick<MessageChanges, 'follow'>
  activity: Pick<AgentActivity, 'seen' | 'typing' | 'acted'>
  /** An agent wrote to the contact under which the service itself speaks. */
  onOperationsMessage: (instance: string, text: string, destinationKey: string) => Promise<void> | undefined
  clock: Clock
  log: Log
}

export class WebhookDesk {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  receive(
    name: string,
    raw: Buffer,
    headers: IncomingHttpHeaders,
    parse: (raw: Buffer) => unknown,
  ): Promise<WebhookAnswer> {
    const { clock } = this.#deps
    const startedAt = clock.monotonic()
    const late = () => new BridgeError('SERVICE_STORAGE_FAILED', 'the service could not decide in time; try again')
    const work = async () => {
      const route = await this.#admit(name, raw, headers)
      return this.#follow(route, readCallback(parse(raw)), decideWithinMs - (clock.monotonic() - startedAt))
    }
    return withDeadline(clock, answerWithinMs, work(), late)
  }

  /** Nobody without the secret learns which instances exist. */
  async #admit(name: string, raw: Buffer, headers: IncomingHttpHeaders): Promise<Routed> {
    const { instances, routing, clock } = this.#deps
    const sender = instances.find(name)?.record
    const secret = await routing.webhookSecretOf(sender ?? { owner_tag: '' })
    if (secret !== '' && !isSigned({ headers, rawBody: raw }, secret, clock.now())) {
      throw new BridgeError('SERVICE_UNAUTHORIZED', 'the callback is not signed with the secret of this instance')
    }
    if (!sender) throw new BridgeError('SERVICE_INSTANCE_NOT_FOUND', `there is no instance ${JSON.stringify(name)}`)
    return { sender, destination: await routing.destinationOf(sender) }
  }

  async #follow(route: Routed, command: OutgoingCommand, leftMs: number): Promise<WebhookAnswer> {
    const { outbound, activity, clock } = this.#deps
    const { sender, destination } = route
    if (command.kind !== 'ignored' && this.#isForUs(route, command)) return { kind: 'ignored', reason: 'operations' }
    switch (command.kind) {
      case 'ignored':
        return command
      case 'send': {
        const { conversationId } = command.place
        activity.acted(sender.name)
        const answer = await outbound.send(route, command, leftMs)
        const hasUnread = 'hasUnread' in answer && answer.hasUnread
        if (hasUnread && destination && conversationId !== null) activity.seen(destination, conversationId, clock.now())
        return answer
      }
      case 'changed':
        this.#change(route, command)
        return { kind: 'followed' }
      case 'seen':
        if (destination && isOurs(route, command)) this.#seen(route, command)
        return { kind: 'followed' }
      case 'typing':
        if (isOurs(route, command)) {
          activity.acted(sender.name)
          activity.typing(sender.name, command.recipient, command.typing)
        }
        return { kind: 'followed' }
    }
  }

  /** Nothing written to the service's own contact reaches the network or any counter. */
  #isForUs({ sender, destination }: Routed, command: Exclude<OutgoingCommand, { kind: 'ignored' }>): boolean {
    const named = namedInstance(command.recipient)
    if (named === undefined) return false
    if (command.kind === 'send' && destination) {
      const { onOperationsMessage, log } = this.#deps
      onOperationsMessage(named, command.content, destination.key)?.catch((err: unknown) => {
        log.error({ err, instance: sender.name }, 'what an agent asked of the service could not be done')
      })
    }
    return true
  }

  #seen({ sender, destination }: Routed, { place, at }: Extract<OutgoingCommand, { kind: 'seen' }>): void {
    const { activity } = this.#deps
    if (!destination || place.conversationId === null || at === null) return
    activity.acted(sender.name)
    // Told in whole seconds: whatever was posted within that second was there.
    activity.seen(destination, place.conversationId, at + 999)
  }

  /** In the background: a failure here is no reason to mark the message failed. */
  #change({ sender, destination }: Routed, command: Extract<OutgoingCommand, { kind: 'changed' }>): void {
    const { changes, clock, log } = this.#deps
    if (!destination || !isOurs({ sender, destination }, command)) return
    changes.follow(destination, command, clock.now()).catch((err: unknown) => {
      log.error({ err, instance: sender.name }, 'a changed message could not be followed')
    })
  }
}

function isOurs({ destination }: Routed, { place }: Exclude<OutgoingCommand, { kind: 'ignored' }>): boolean {
  const { accountId, inboxId } = place
  const isAccount = accountId === null || accountId === destination?.accountId
  return isAccount && (inboxId === null || inboxId === destination?.inboxId)
}
