// Callbacks of the helpdesk. It sends each once and shows the message as failed without a quick answer, so a callback whose owner
// does not answer is stored by this node.

import type { ErrorCode } from '../../core/errors.ts'
import type { Owner } from '../../core/nodes/owners.ts'
import { EgressError } from '../../lib/egress/errors.ts'
import { deadlineOf } from './owner-routes.ts'
import { passAnswer } from './pass-headers.ts'
import { distrusted, headFor } from './passage.ts'
import type { ForwardingDeps, Passage, PassageEnd } from './passage.ts'

type Outcome = 'answered' | 'look_again' | 'stand_in' | 'unknown'

/** The first owner, and the one that a second look finds. */
const mostOwners = 2

/** How long after the callback came owners are asked. What is left of the 5 s of the helpdesk is enough to store it here. */
const askForMs = 3500

/** Answers of an owner that cannot do its work, while this node may reach the database. Other refusals are for the helpdesk. */
const helpless: Partial<Record<ErrorCode, Outcome>> = {
  ...{ SERVICE_STARTING: 'stand_in', SERVICE_STANDBY: 'stand_in', SERVICE_STOPPING: 'stand_in' },
  // The instance may have left, or the database may have failed, after the callback was stored.
  ...{ SERVICE_NO_OWNER: 'unknown', SERVICE_STORAGE_FAILED: 'unknown' },
}

export class CallbackForwarder {
  readonly #deps: Omit<ForwardingDeps, 'forwarded'>

  constructor(deps: Omit<ForwardingDeps, 'forwarded'>) {
    this.#deps = deps
  }

  async pass(passage: Passage): Promise<PassageEnd> {
    const { owners } = this.#deps
    let outcome: Outcome = 'look_again'
    for (let asked = 0; outcome === 'look_again' && asked < mostOwners; asked++) {
      const owner = await owners.ownerOf(passage.instance)
      if (owner === 'here' || owner === 'unknown') return 'here'
      outcome = typeof owner === 'object' ? await this.#ask(owner, passage) : 'stand_in'
    }
    if (outcome !== 'answered') await this.#standIn(passage, outcome === 'unknown')
    return 'answered'
  }

  async #ask(owner: Owner, passage: Passage): Promise<Outcome> {
    const { peers, owners, clock } = this.#deps
    const { instance, request, reply, body, since, hungUp } = passage
    const asked = clock.monotonic()
    const timeoutMs = Math.min(deadlineOf(request.routeOptions.url ?? ''), since + askForMs - asked)
    if (timeoutMs <= 0) return 'stand_in'
    try {
      const terms = { timeoutMs, signal: hungUp }
      const answer = await peers.forwardCallback(owner, headFor(passage, owner, asked), body, terms)
      if ('refusal' in answer) {
        owners.forget(instance)
        if (answer.refusal === 'distrusted') request.log.warn({ node: owner.id, instance }, distrusted)
        return answer.refusal === 'leaving' || answer.refusal === 'distrusted' ? 'stand_in' : 'look_again'
      }
      const code = errorCodeIn(answer)
      const outcome = code && helpless[code]
      if (!outcome) {
        passAnswer(reply, answer)
        return 'answered'
      }
      owners.forget(instance)
      request.log.warn({ node: owner.id, code, instance }, 'the owner could not take a callback')
      return outcome
    } catch (error) {
      if (!(error instanceof EgressError)) throw error
      owners.forget(instance)
      request.log.warn({ node: owner.id, reason: error.reason, instance }, 'the owner did not answer a callback')
      if (error.outcome === 'unknown') return 'unknown'
      return error.reason === 'timeout' ? 'stand_in' : 'look_again'
    }
  }

  async #standIn({ instance, request, reply, body, since }: Passage, mayBeStored: boolean): Promise<void> {
    const { standIn, clock } = this.#deps
    const waitedMs = clock.monotonic() - since
    const answer = await standIn.store({ instance, headers: request.headers, raw: body, waitedMs, mayBeStored })
    void reply.code(answer.status).send(answer.body)
  }
}

function errorCodeIn({ status, body }: { status: number; body: Buffer }): ErrorCode | undefined {
  if (status < 500) return undefined
  try {
    return (JSON.parse(body.toString('utf8')) as { error_code?: ErrorCode } | null)?.error_code
  } catch {
    return undefined
  }
}
