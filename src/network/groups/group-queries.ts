// Asks the server about groups, with one deadline for each call of the port.

import { groupJid } from '../../core/address.ts'
import { GroupError } from '../../core/group-administration.ts'
import { withDeadline } from '../../lib/clock.ts'
import type { Clock } from '../../lib/clock.ts'
import type { BinaryNode } from '../library/library.ts'
import type { ServerQueries } from '../queries/server-queries.ts'
import { refusalIn } from './group-refusals.ts'
import type { Purpose } from './group-refusals.ts'

type Attributes = { xmlns: string; type: string; to?: string; target?: string }
type Deps = { queries: Pick<ServerQueries, 'query'>; clock: Clock }

/** The address of the server of all groups. */
export const allGroups = '@g.us'

export const answerMs = 10_000

export class GroupQueries {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  ask(groupId: string, purpose: Purpose, content: BinaryNode): Promise<BinaryNode> {
    return this.askAt(groupJid(groupId), purpose, content)
  }

  /** Resolves with a result of the server; rejects with a GroupError. */
  askAt(to: string, purpose: Purpose, content: BinaryNode): Promise<BinaryNode> {
    const type = purpose === 'change' ? 'set' : 'get'
    return this.send({ xmlns: 'w:g2', type, to }, purpose, content)
  }

  async send(attrs: Attributes, purpose: Purpose, content: BinaryNode): Promise<BinaryNode> {
    const answer = await this.#deps.queries.query(attrs, content, answerMs).catch((cause: unknown) => {
      throw unanswered(cause)
    })
    const refusal = refusalIn(answer, purpose)
    if (refusal) throw refusal
    return answer
  }

  /** For a call of several questions. */
  within<Result>(work: () => Promise<Result>): Promise<Result> {
    return withDeadline(this.#deps.clock, answerMs, work(), () => unanswered(undefined))
  }
}

function unanswered(cause: unknown): GroupError {
  return new GroupError('failed', 'the network did not answer; the change may have been made', { cause })
}

/** The answer lacks something that we need. */
export function unreadable(what: string): GroupError {
  return new GroupError('failed', `the answer of the network names no ${what}`)
}
