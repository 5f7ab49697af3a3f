// Handles the helpdesk's callbacks: checks the signature, reads the command, follows it, and answers in time.

import type { IncomingHttpHeaders } from 'node:http'
import type { AgentActivity } from '../../bridge/outbound/agent-activity.ts'
import type { AnswerRoutes } from '../../bridge/outbound/accept/answer-routes.ts'
import type { MessageChanges } from '../../bridge/outbound/accept/message-changes.ts'
import type { MessageAcceptor } from '../../bridge/outbound/accept/message-acceptor.ts'
import type { Route, Sender } from '../../bridge/conversations/route.ts'
import type { OutgoingCommand } from '../../core/downstream.ts'
import { BridgeError } from '../../core/errors.ts'
import type { DestinationKey, InstanceName } from '../../core/ids.ts'
import { namedInstance } from '../../core/operations-contact.ts'
import { readCallback } from '../../downstream/callback.ts'
import { isSigned } from '../../downstream/signature.ts'
import { sleep, withDeadline } from '../../lib/clock.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import type { Routing } from '../../tenants/routing.ts'
import type { WebhookAnswer } from './webhook-reply.ts'

// The helpdesk hangs up after 5 s and takes that for a failure.
const answerWithinMs = 4000
// Leaves time to answer when the decision takes too long.
const decideWithinMs = 3800

type Command<Kind extends OutgoingCommand['kind']> = Extract<OutgoingCommand, { kind: Kind }>

type Deps = {
  instances: { find(name: InstanceName): { readonly record: Sender } | undefined }
  routing: Pick<Routing, 'destinationOf' | 'webhookSecretOf'>
  outbound: Pick<MessageAcceptor, 'send'>
  changes: Pick<MessageChanges, 'follow'>
  activity: Pick<AgentActivity, 'seen' | 'typing' | 'acted'>
  answers: Pick<AnswerRoutes, 'of' | 'ownerOf'>
  /** An agent wrote to the operations contact of an instance. */
  onOperationsMessage: (
    instance: InstanceName,
    text: string,
    destinationKey: DestinationKey,
  ) => Promise<void> | undefined
  clock: Clock
  log: Log
}

export class WebhookHandler {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  receive(
    name: InstanceName,
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

  /** Checks the signature first: a caller without the secret must not learn which instances exist. */
  async #admit(name: InstanceName, raw: Buffer, headers: IncomingHttpHeaders): Promise<Route> {
    const { instances, routing, clock } = this.#deps
    const sender = instances.find(name)?.record
    const secret = await routing.webhookSecretOf(sender ?? { ownerTag: '' })
    if (secret !== '' && !isSigned({ headers, rawBody: raw }, secret, clock.now())) {
      throw new BridgeError('SERVICE_UNAUTHORIZED', 'the callback is not signed with the secret of this instance')
    }
    if (!sender) throw new BridgeError('SERVICE_INSTANCE_NOT_FOUND', `there is no instance ${JSON.stringify(name)}`)
    return { sender, destination: await routing.destinationOf(sender) }
  }

  async #follow(route: Route, command: OutgoingCommand, leftMs: number): Promise<WebhookAnswer> {
    if (command.kind !== 'ignored' && this.#isForUs(route, command)) return { kind: 'ignored', reason: 'operations' }
    switch (command.kind) {
      case 'ignored':
        return command
      case 'send':
        return this.#send(route, command, leftMs)
      case 'changed':
        await this.#change(route, command, leftMs)
        return { kind: 'followed' }
      case 'seen':
      case 'typing':
        if (isOurs(route, command)) this.#inBackground(route, this.#observe(route, command))
        return { kind: 'followed' }
    }
  }

  async #send(route: Route, command: Command<'send'>, leftMs: number): Promise<WebhookAnswer> {
    const { outbound, activity, clock } = this.#deps
    const { conversationId } = command.place
    const startedAt = clock.now()
    const answer = await outbound.send(route, command, leftMs)
    if (answer.kind !== 'sent' && answer.kind !== 'queued') return answer
    // Greetings and surveys that the helpdesk sends by itself come without an agent.
    if (command.agentName !== null) activity.acted(answer.instance, startedAt)
    const { destination } = route
    if (answer.hasUnread && destination && conversationId !== null) {
      activity.seen(destination, conversationId, clock.now())
    }
    return answer
  }

  /** Messages to the operations contact never reach the network or a counter. */
  #isForUs({ sender, destination }: Route, command: Exclude<OutgoingCommand, { kind: 'ignored' }>): boolean {
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

  /** Typing, seen and online are shown by the account that owns the conversation. */
  async #observe(route: Route, command: Command<'seen' | 'typing'>): Promise<void> {
    const { activity, answers, clock } = this.#deps
    const { conversationId } = command.place
    const now = clock.now()
    if (command.kind === 'typing') {
      const { sender, ref } = await answers.of(route, command)
      activity.acted(sender.name, now)
      if (ref) activity.typing(sender.name, ref, command.typing)
      return
    }
    const { sender, destination } = await answers.ownerOf(route, conversationId)
    if (destination && conversationId !== null && command.at !== null) {
      // The helpdesk sends this time with every change of the conversation, also with changes by customers.
      activity.acted(sender.name, command.at)
      // The time is in whole seconds: messages posted within that second were visible.
      activity.seen(destination, conversationId, command.at + 999)
    }
  }

  /** Waits until the change is stored, but not for ever: a failure here is no reason to mark the message failed. */
  async #change(route: Route, command: Command<'changed'>, leftMs: number): Promise<void> {
    const { changes, clock, log } = this.#deps
    if (!route.destination) return
    const following = changes.follow(route, command, clock.now()).catch((err: unknown) => {
      log.error({ err, instance: route.sender.name }, 'a changed message could not be followed')
    })
    const enough = new AbortController()
    await Promise.race([following, sleep(clock, leftMs, enough.signal)])
    enough.abort()
  }

  #inBackground({ sender }: Route, work: Promise<void>): void {
    work.catch((err: unknown) => {
      this.#deps.log.debug({ err, instance: sender.name }, 'what an agent does could not be shown')
    })
  }
}

function isOurs({ destination }: Route, { place }: Exclude<OutgoingCommand, { kind: 'ignored' }>): boolean {
  const { accountId, inboxId } = place
  const isAccount = accountId === null || accountId === destination?.accountId
  return isAccount && (inboxId === null || inboxId === destination?.inboxId)
}
