// Decides whether a callback is let in: its signature must be right, its instance must exist, and its body must be readable.

import type { IncomingHttpHeaders } from 'node:http'
import type { Route, Sender } from '../../bridge/conversations/route.ts'
import { otherInbox } from '../../bridge/outbound/accept/commands.ts'
import type { CallbackConversation, OutgoingCommand } from '../../core/helpdesk/callback.ts'
import { BridgeError } from '../../core/errors.ts'
import type { InstanceName } from '../../core/ids.ts'
import type { Locale } from '../../core/reasons/sentences.ts'
import { readCallback } from '../../downstream/callback.ts'
import { carriesSignature, checkSignatures } from '../../downstream/signature.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Routing } from '../../tenants/routing.ts'
import type { Caller, CallbackRefusals } from './callback-refusals.ts'
import type { ClockDifferences } from './clock-differences.ts'
import type { RefusalReason } from './refusal-sentences.ts'

type Found = { readonly record: Sender } | undefined

type Deps = {
  instances: { find(name: InstanceName): Found | Promise<Found> }
  routing: Pick<Routing, 'destinationOf' | 'configuredSecretsOf' | 'webhookSecretsOf'>
  clocks: Pick<ClockDifferences, 'refused' | 'agreed'>
  refusals: Pick<CallbackRefusals, 'refused' | 'accepted'>
  clock: Pick<Clock, 'now'>
  /** The language of sentences that are added for the customer. */
  localeOf: (instance: InstanceName) => Locale
}

/** A callback whose body is not read yet. */
export type IncomingCallback = { raw: Buffer; headers: IncomingHttpHeaders; parse: () => unknown }
/** `isSigned`: the helpdesk has proved to be the caller. */
type Admitted = { route: Route; isSigned: boolean }
type ReadCommand = Exclude<OutgoingCommand, { kind: 'ignored' }>

export class CallbackAdmission {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /**
   * Refuses a callback whose answer does not depend on its body. If the secrets must be read from the database first, or the
   * helpdesk must be asked, the body is read too: the message is then known when there is no answer.
   */
  async screen(name: InstanceName, headers: IncomingHttpHeaders): Promise<void> {
    const { routing, instances } = this.#deps
    const sender = (await instances.find(name))?.record
    const secrets =
      (await knownAtOnce(routing.webhookSecretsOf(sender))) ?? (await knownAtOnce(routing.configuredSecretsOf(sender)))
    if (secrets === undefined) return
    const caller = { instance: name, isKnown: sender !== undefined, isProved: false }
    if (secrets.length > 0 && !carriesSignature(headers)) throw this.#refuse(caller, 'not_signed', notSigned())
    if (secrets.length === 0 && !sender) throw this.#refuse(caller, 'unknown_instance', notFound(name))
  }

  /** Checks the signature first: a caller without the secret must not learn which instances exist. */
  async admit(name: InstanceName, callback: IncomingCallback): Promise<Admitted> {
    const { instances, routing } = this.#deps
    const sender = (await instances.find(name))?.record
    const secrets = await routing.webhookSecretsOf(sender)
    const isSigned = secrets.length > 0
    const caller = { instance: name, isKnown: sender !== undefined, isProved: isSigned }
    if (isSigned) this.#check(caller, callback, secrets)
    if (!sender) {
      const inbox = isSigned ? callingInbox(callback.parse) : undefined
      throw this.#refuse({ ...caller, inbox }, 'unknown_instance', notFound(name))
    }
    return { route: { sender, destination: await routing.destinationOf(sender) }, isSigned }
  }

  /** What the callback asks for. Throws SERVICE_BAD_REQUEST if it cannot be read. */
  read({ route, isSigned }: Admitted, { parse }: Pick<IncomingCallback, 'parse'>): OutgoingCommand {
    const caller = { instance: route.sender.name, isKnown: true, isProved: isSigned }
    const command = this.#readable(caller, parse)
    if (command.kind === 'ignored') this.#noteIgnored(caller, command)
    else this.#noteInbox(caller, route, command)
    return command
  }

  /** Such a callback does not always say which helpdesk inbox it is of. */
  #noteIgnored(caller: Caller, { flaw }: Extract<OutgoingCommand, { kind: 'ignored' }>): void {
    const { refusals } = this.#deps
    if (flaw === undefined) refusals.accepted(caller.instance)
    else refusals.refused(caller, 'unreadable', flaw)
  }

  #noteInbox(caller: Caller, { destination }: Route, { kind, conversation }: ReadCommand): void {
    const { refusals } = this.#deps
    if (!otherInbox(destination, conversation)) refusals.accepted(caller.instance, inboxText(conversation))
    // Only a message is refused for this. What agents do in another inbox is ignored.
    else if (kind === 'send' && destination) {
      const sentence = `the callback is of ${inboxText(conversation)}, but the instance belongs to ${inboxText(destination)}`
      refusals.refused(caller, 'other_inbox', sentence)
    }
  }

  #readable(caller: Caller, parse: () => unknown): OutgoingCommand {
    try {
      return readCallback(parse(), this.#deps.localeOf(caller.instance))
    } catch (error) {
      if (!(error instanceof BridgeError)) throw error
      throw this.#refuse(caller, 'unreadable', error, error.message)
    }
  }

  /** Notes the refusal for the operator, and returns what the caller is told. */
  #refuse(caller: Caller, reason: RefusalReason, error: BridgeError, sentence?: string): BridgeError {
    this.#deps.refusals.refused(caller, reason, sentence)
    return error
  }

  #check(caller: Caller, { raw: rawBody, headers }: IncomingCallback, secrets: readonly string[]): void {
    const { clocks, clock } = this.#deps
    const { instance, isKnown } = caller
    const verdict = checkSignatures({ headers, rawBody }, secrets, clock.now())
    if (verdict === 'wrong') {
      const reason = carriesSignature(headers) ? 'wrong_signature' : 'not_signed'
      throw this.#refuse({ ...caller, isProved: false }, reason, notSigned())
    }
    if (verdict === 'right') {
      if (isKnown) clocks.agreed(instance)
      return
    }
    if (isKnown) clocks.refused(instance, verdict.aheadMs)
    const error = new BridgeError('SERVICE_CLOCK_DIFFERS', clockSentence(verdict.aheadMs))
    throw this.#refuse(caller, 'clock_differs', error)
  }
}

/** The helpdesk inbox that a callback names; undefined if it names none, or cannot be read. */
function callingInbox(parse: () => unknown): string | undefined {
  try {
    const command = readCallback(parse())
    return command.kind === 'ignored' ? undefined : inboxText(command.conversation)
  } catch (error) {
    if (error instanceof BridgeError) return undefined
    throw error
  }
}

function inboxText({ accountId, inboxId }: Pick<CallbackConversation, 'accountId' | 'inboxId'>): string {
  return `inbox ${inboxId ?? 'unknown'} of account ${accountId ?? 'unknown'}`
}

/** Undefined when the work fails or takes longer than this turn of the event loop. */
function knownAtOnce<T>(work: Promise<T>): Promise<T | undefined> {
  return new Promise((resolve) => {
    const turn = setImmediate(resolve, undefined)
    const end = (known?: T) => {
      clearImmediate(turn)
      resolve(known)
    }
    work.then(end, () => {
      end()
    })
  })
}

function notSigned(): BridgeError {
  return new BridgeError('SERVICE_UNAUTHORIZED', 'the callback is not signed with the secret of this instance')
}

function notFound(name: InstanceName): BridgeError {
  return new BridgeError('SERVICE_INSTANCE_NOT_FOUND', `there is no instance ${JSON.stringify(name)}`)
}

function clockSentence(aheadMs: number): string {
  const seconds = Math.round(Math.abs(aheadMs) / 1000)
  const side = aheadMs > 0 ? 'ahead of' : 'behind'
  return `the signature is right, but the timestamp of the callback is ${seconds} s ${side} the clock of this service: set the clocks of both machines`
}
