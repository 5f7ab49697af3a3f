// Decides whether a callback is let in: its signature must be right, and its instance must exist.

import type { IncomingHttpHeaders } from 'node:http'
import type { Route, Sender } from '../../bridge/conversations/route.ts'
import { BridgeError } from '../../core/errors.ts'
import type { InstanceName } from '../../core/ids.ts'
import { carriesSignature, checkSignatures } from '../../downstream/signature.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Routing } from '../../tenants/routing.ts'
import type { ClockDifferences } from './clock-differences.ts'

type Deps = {
  instances: { find(name: InstanceName): { readonly record: Sender } | undefined }
  routing: Pick<Routing, 'destinationOf' | 'configuredSecretsOf' | 'webhookSecretsOf'>
  clocks: Pick<ClockDifferences, 'refused' | 'agreed'>
  clock: Pick<Clock, 'now'>
}

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
    const sender = this.#deps.instances.find(name)?.record
    const { routing } = this.#deps
    const secrets =
      (await knownAtOnce(routing.webhookSecretsOf(sender))) ?? (await knownAtOnce(routing.configuredSecretsOf(sender)))
    if (secrets === undefined) return
    if (secrets.length > 0 && !carriesSignature(headers)) throw notSigned()
    if (secrets.length === 0 && !sender) throw notFound(name)
  }

  /** Checks the signature first: a caller without the secret must not learn which instances exist. */
  async admit(name: InstanceName, raw: Buffer, headers: IncomingHttpHeaders): Promise<Route> {
    const { instances, routing } = this.#deps
    const sender = instances.find(name)?.record
    const secrets = await routing.webhookSecretsOf(sender)
    if (secrets.length > 0) this.#check(sender, raw, headers, secrets)
    if (!sender) throw notFound(name)
    return { sender, destination: await routing.destinationOf(sender) }
  }

  #check(sender: Sender | undefined, rawBody: Buffer, headers: IncomingHttpHeaders, secrets: readonly string[]): void {
    const { clocks, clock } = this.#deps
    const verdict = checkSignatures({ headers, rawBody }, secrets, clock.now())
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
