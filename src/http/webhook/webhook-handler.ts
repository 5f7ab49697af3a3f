// Handles the helpdesk's callbacks: admits them, reads the command, follows it, and answers in time.

import type { IncomingHttpHeaders } from 'node:http'
import type { CallbackAges } from '../../bridge/outbound/accept/callback-ages.ts'
import type { MessageChanges } from '../../bridge/outbound/accept/message-changes.ts'
import type { SendAnswer } from '../../bridge/outbound/accept/send-answer.ts'
import type { MessageAcceptor } from '../../bridge/outbound/accept/message-acceptor.ts'
import type { ConversationEvents } from '../../bridge/outbound/conversation-events.ts'
import type { Route } from '../../bridge/conversations/route.ts'
import type { OutgoingCommand } from '../../core/helpdesk/callback.ts'
import { BridgeError } from '../../core/errors.ts'
import type { DestinationKey, InstanceName } from '../../core/ids.ts'
import type { Traces } from '../../core/trace/traces.ts'
import { namedInstance } from '../../core/helpdesk/operations-contact.ts'
import { sentAt } from '../../downstream/signature.ts'
import { sleep, withDeadline } from '../../lib/clock.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import type { CallbackAdmission } from './callback-admission.ts'
import type { WebhookAnswer } from './webhook-reply.ts'

// The helpdesk hangs up after 5 s and takes that for a failure.
const answerWithinMs = 4000
// Leaves time to answer when the decision takes too long.
const decideWithinMs = 3800

type Command<Kind extends OutgoingCommand['kind']> = Extract<OutgoingCommand, { kind: Kind }>
/** `sentAt` is the time by the clock of the helpdesk. */
type Callback<Kind extends OutgoingCommand['kind'] = OutgoingCommand['kind']> = {
  command: Command<Kind>
  sentAt: number | null
}

type Arrival = Parameters<MessageAcceptor['send']>[1]

type ReceivedCallback = { raw: Buffer; headers: IncomingHttpHeaders; waitedMs: number }

const unknownAge = { sentMsAgo: null, writtenMsAgo: null }

type Deps = {
  admission: Pick<CallbackAdmission, 'screen' | 'admit' | 'read'>
  outbound: Pick<MessageAcceptor, 'send'>
  changes: Pick<MessageChanges, 'follow'>
  events: Pick<ConversationEvents, 'heard' | 'follow' | 'accepted'>
  ages: Pick<CallbackAges, 'ageOf'>
  /** An agent wrote to the operations contact of an instance. */
  onOperationsMessage: (
    instance: InstanceName,
    text: string,
    destinationKey: DestinationKey,
  ) => Promise<void> | undefined
  traces: Pick<Traces, 'during'>
  clock: Clock
  log: Log
}

export class WebhookHandler {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Refuses a callback whose answer does not depend on its body, before the body is read. */
  screen(name: InstanceName, headers: IncomingHttpHeaders): Promise<void> {
    return this.#deps.admission.screen(name, headers)
  }

  /** `waitedMs` is how long the callback has waited since its headers came: Chatwoot waits too. */
  receive(
    name: InstanceName,
    { raw, headers, waitedMs }: ReceivedCallback,
    parse: (raw: Buffer) => unknown,
  ): Promise<WebhookAnswer> {
    const { admission, clock, events } = this.#deps
    const startedAt = clock.monotonic() - waitedMs
    const work = async () => {
      const incoming = { raw, headers, parse: () => parse(raw) }
      const admitted = await admission.admit(name, incoming)
      const callback = { command: admission.read(admitted, incoming), sentAt: sentAt(headers) }
      const { route } = admitted
      events.heard(route)
      return await this.#follow(route, callback, decideWithinMs - (clock.monotonic() - startedAt))
    }
    return withDeadline(clock, answerWithinMs - waitedMs, work(), tooLate)
  }

  async #follow(route: Route, { command, sentAt }: Callback, leftMs: number): Promise<WebhookAnswer> {
    if (command.kind === 'ignored') return { kind: 'ignored', reason: command.reason }
    if (command.kind === 'note') {
      await this.#deps.events.follow(route, command)
      return { kind: 'ignored', reason: 'private' }
    }
    if (this.#isForUs(route, command)) return { kind: 'ignored', reason: 'operations' }
    switch (command.kind) {
      case 'send':
        return await this.#send(route, { command, sentAt }, leftMs)
      case 'changed':
        return this.#change(route, command, leftMs)
      case 'seen':
      case 'typing':
      case 'status':
        await this.#upTo(leftMs, this.#observe(route, command))
        return { kind: 'followed' }
    }
  }

  async #send(route: Route, { command, sentAt }: Callback<'send'>, leftMs: number): Promise<WebhookAnswer> {
    const { events, ages, clock } = this.#deps
    const startedAt = clock.now()
    const { writtenAt } = command
    const age = route.destination ? ages.ageOf(route.destination.key, { sentAt, writtenAt }) : unknownAge
    const answer = await this.#traced(route, { command, age }, leftMs)
    if (answer.kind === 'sent' || answer.kind === 'queued') events.accepted(route, command, answer, startedAt)
    return answer
  }

  /** A callback that names no message, or that comes from an unknown helpdesk inbox, belongs to no trace. */
  #traced(route: Route, arrival: Arrival, leftMs: number): Promise<SendAnswer> {
    const { outbound, traces } = this.#deps
    const { sender, destination } = route
    const { messageId: id } = arrival.command
    if (!destination || id === null) return outbound.send(route, arrival, leftMs)
    const subject = { of: 'helpdesk', destination: destination.key, id } as const
    const step = { subject, name: 'callback', facts: { instance: sender.name, direction: 'out' } } as const
    return traces.during(step, async (facts) => {
      const answer = await outbound.send(route, arrival, leftMs)
      facts.outcome = answer.kind
      return answer
    })
  }

  /** Messages to the operations contact never reach the network or a counter. */
  #isForUs({ sender, destination }: Route, command: Exclude<OutgoingCommand, { kind: 'ignored' | 'note' }>): boolean {
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

  /** Waits until the change is stored, but not for ever: a failure here is no reason to mark the message failed. */
  async #change(route: Route, command: Command<'changed'>, leftMs: number): Promise<WebhookAnswer> {
    const { changes, clock, log } = this.#deps
    const { destination } = route
    const { messageId, externalError, deleted, isTranslated } = command
    if (!destination) return { kind: 'followed' }
    const following = changes.follow(route, command, clock.now()).catch((err: unknown) => {
      log.error({ err, instance: route.sender.name }, 'a changed message could not be followed')
    })
    await this.#upTo(leftMs, following)
    const isPlain = externalError === null && !deleted && !isTranslated
    return { kind: 'followed', ...(isPlain && { changed: { destination: destination.key, messageId } }) }
  }

  /** Chatwoot does not repeat these callbacks, so a failure would not help. */
  async #observe(route: Route, command: Command<'seen' | 'typing' | 'status'>): Promise<void> {
    try {
      await this.#deps.events.follow(route, command)
    } catch (err) {
      this.#deps.log.error({ err, instance: route.sender.name }, 'a changed conversation could not be followed')
    }
  }

  async #upTo(ms: number, work: Promise<void>): Promise<void> {
    const enough = new AbortController()
    await Promise.race([work, sleep(this.#deps.clock, ms, enough.signal)])
    enough.abort()
  }
}

function tooLate(): BridgeError {
  return new BridgeError('SERVICE_STORAGE_FAILED', 'the service could not decide in time; try again')
}
