// Decides whether a callback is let in: its signature must be right, and its instance must exist.

import type { IncomingHttpHeaders } from 'node:http'
import type { Route, Sender } from '../../bridge/conversations/route.ts'
import { BridgeError } from '../../core/errors.ts'
import type { InstanceName } from '../../core/ids.ts'
import { carriesSignature, checkSignature } from '../../downstream/signature.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Routing } from '../../tenants/routing.ts'
import type { ClockDifferences } from './clock-differences.ts'

type Deps = {
  instances: { find(name: InstanceName): { readonly record: Sender } | undefined }
  routing: Pick<Routing, 'destinationOf' | 'webhookSecretOf'>
  clocks: Pick<ClockDifferences, 'refused' | 'agreed'>
  clock: Pick<Clock, 'now'>
}

export class CallbackAdmission {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /**
   * Refuses a callback whose answer does not depend on its body. If the secret must be read from the database first, the body
   * is read too: the message is then known when the database does not answer.
   */
  async screen(name: InstanceName, headers: IncomingHttpHeaders): Promise<void> {
    const sender = this.#deps.instances.find(name)?.record
    const secret = await knownAtOnce(this.#secretOf(sender))
    if (secret === undefined) return
    if (secret !== '' && !carriesSignature(headers)) throw notSigned()
    if (secret === '' && !sender) throw notFound(name)
  }

  /** Checks the signature first: a caller without the secret must not learn which instances exist. */
  async admit(name: InstanceName, raw: Buffer, headers: IncomingHttpHeaders): Promise<Route> {
    const { instances, routing } = this.#deps
    const sender = instances.find(name)?.record
    const secret = await this.#secretOf(sender)
    if (secret !== '') this.#check(sender, raw, headers, secret)
    if (!sender) throw notFound(name)
    return { sender, destination: await routing.destinationOf(sender) }
  }

  /** Callbacks to an instance that does not exist are signed with the secret of the default destination. */
  #secretOf(sender: Sender | undefined): Promise<string> {
    return this.#deps.routing.webhookSecretOf(sender ?? { ownerTag: '' })
  }

  #check(sender: Sender | undefined, rawBody: Buffer, headers: IncomingHttpHeaders, secret: string): void {
    const { clocks, clock } = this.#deps
    const verdict = checkSignature({ headers, rawBody }, secret, clock.now())
    if (verdict === 'wrong') throw notSigned()
    if (verdict === 'right') {
      if (sender) clocks.agreed(sender.name)
      return
    }
    if (sender) clocks.refused(sender.name, verdict.aheadMs)
    throw new BridgeError('SERVICE_CLOCK_DIFFERS', clockSentence(verdict.aheadMs))
  }
}

/** Undefined when the work fails or takes longer than this turn of the event loop. */
function knownAtOnce<T>(work: Promise<T>): Promise<T | undefined> {
  const later = new Promise<undefined>((resolve) => {
    setImmediate(resolve, undefined)
  })
  return Promise.race([work.catch(() => undefined), later])
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
