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
const allGroups = '@g.us'

const answerMs = 10_000
const forbidden = 403

export class GroupQueries {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Reads the group itself. */
  read(groupId: string): Promise<BinaryNode> {
    const content = { tag: 'query', attrs: { request: 'interactive' } }
    return this.#send({ xmlns: 'w:g2', type: 'get', to: groupJid(groupId) }, 'read', content)
  }

  /** Asks a group. Resolves with a result of the server; rejects with a GroupError. */
  ask(groupId: string, purpose: Purpose, content: BinaryNode): Promise<BinaryNode> {
    return this.#askAbout(groupId, { xmlns: 'w:g2', type: typeOf(purpose), to: groupJid(groupId) }, purpose, content)
  }

  /** Asks the server of all groups. */
  askAll(purpose: Purpose, content: BinaryNode): Promise<BinaryNode> {
    return this.#send({ xmlns: 'w:g2', type: typeOf(purpose), to: allGroups }, purpose, content)
  }

  setPicture(groupId: string, content: BinaryNode): Promise<BinaryNode> {
    const attrs = { xmlns: 'w:profile:picture', type: 'set', target: groupJid(groupId) }
    return this.#askAbout(groupId, attrs, 'change', content)
  }

  /** For a call of several questions. */
  within<Result>(purpose: Purpose, work: () => Promise<Result>): Promise<Result> {
    return withDeadline(this.#deps.clock, answerMs, work(), () => unanswered(purpose))
  }

  /** The code 403 does not say whether the account is no administrator or no member. Only a member can read the group. */
  #askAbout(groupId: string, attrs: Attributes, purpose: Purpose, content: BinaryNode): Promise<BinaryNode> {
    return this.within(purpose, async () => {
      try {
        return await this.#send(attrs, purpose, content)
      } catch (error) {
        if (!(error instanceof GroupError) || error.code !== forbidden) throw error
        await this.read(groupId).catch((cause: unknown) => {
          throw cause instanceof GroupError && cause.failure === 'not_found' ? cause : error
        })
        throw error
      }
    })
  }

  async #send(attrs: Attributes, purpose: Purpose, content: BinaryNode): Promise<BinaryNode> {
    const answer = await this.#deps.queries.query(attrs, content, answerMs).catch((cause: unknown) => {
      throw unanswered(purpose, cause)
    })
    const refusal = refusalIn(answer, purpose)
    if (refusal) throw refusal
    return answer
  }
}

function typeOf(purpose: Purpose): 'get' | 'set' {
  return purpose === 'read' || purpose === 'admin_read' ? 'get' : 'set'
}

function unanswered(purpose: Purpose, cause?: unknown): GroupError {
  const end = typeOf(purpose) === 'get' ? 'try again later' : 'the change may have been made'
  return new GroupError('failed', `the network did not answer; ${end}`, { cause })
}

/** The answer lacks something that we need. */
export function unreadable(what: string): GroupError {
  return new GroupError('failed', `the answer of the network names no ${what}`)
}
