// Manages the groups of an account over one connection.

import { randomBytes } from 'node:crypto'
import { groupJid } from '../../core/address.ts'
import type { Person } from '../../core/address.ts'
import { GroupError } from '../../core/group-administration.ts'
import type {
  CreatedGroup,
  GroupAdministration,
  GroupDetails,
  GroupSummary,
  JoinRequest,
  MemberAction,
  MemberResult,
} from '../../core/group-administration.ts'
import type { Jid } from '../../core/ids.ts'
import type { Clock } from '../../lib/clock.ts'
import type { BinaryNode } from '../library/library.ts'
import { childOf, childrenOf } from '../library/nodes.ts'
import type { ServerQueries } from '../queries/server-queries.ts'
import { GroupQueries, unreadable } from './group-queries.ts'
import { squareJpeg } from './group-picture.ts'
import { refusalOf } from './group-refusals.ts'
import { askJoinRequests, decideJoinRequests } from './join-requests.ts'
import { memberResults, participants } from './member-results.ts'
import { creationNodes, readGroup, readGroups, topicIdIn } from './read-group.ts'

type Deps = {
  queries: Pick<ServerQueries, 'query'>
  clock: Clock
  own: () => Person
  /** The members of the group may have changed, so the next message asks for them. */
  forget: (group: Jid) => void
}

export class WhatsappGroups implements GroupAdministration {
  readonly #deps: Deps
  readonly #queries: GroupQueries

  constructor(deps: Deps) {
    this.#deps = deps
    this.#queries = new GroupQueries(deps)
  }

  async details(groupId: string): Promise<GroupDetails> {
    return readGroup(await this.#queries.read(groupId))
  }

  async list(): Promise<GroupSummary[]> {
    const content = [{ tag: 'participants', attrs: {} }]
    const answer = await this.#queries.askAll('read', { tag: 'participating', attrs: {}, content })
    return readGroups(answer, this.#deps.own())
  }

  async setSubject(groupId: string, subject: string): Promise<void> {
    await this.#change(groupId, { tag: 'subject', attrs: {}, content: bytesOf(subject) })
  }

  /** The server refuses a description that does not name the one before, so a change in between leads to a second try. */
  setTopic(groupId: string, topic: string): Promise<void> {
    return this.#queries.within('change', async () => {
      try {
        await this.#describe(groupId, topic)
      } catch (error) {
        if (!(error instanceof GroupError) || error.code !== 409) throw error
        await this.#describe(groupId, topic)
      }
    })
  }

  async setLocked(groupId: string, isLocked: boolean): Promise<void> {
    await this.#change(groupId, { tag: isLocked ? 'locked' : 'unlocked', attrs: {} })
  }

  async setAnnounce(groupId: string, isAnnounce: boolean): Promise<void> {
    await this.#change(groupId, { tag: isAnnounce ? 'announcement' : 'not_announcement', attrs: {} })
  }

  async changeMembers(groupId: string, action: MemberAction, addresses: readonly Jid[]): Promise<MemberResult[]> {
    const answer = await this.#change(groupId, { tag: action, attrs: {}, content: participants(addresses) })
    const changed = childOf(answer, action)
    if (!changed) throw unreadable('members')
    return memberResults(addresses, childrenOf(changed, 'participant'))
  }

  async create(subject: string, addresses: readonly Jid[]): Promise<CreatedGroup> {
    const attrs = { subject: subject.toWellFormed(), key: newId() }
    const content = participants(addresses)
    const answer = await this.#queries.askAll('create', { tag: 'create', attrs, content })
    const group = readGroup(answer)
    return { id: group.id, subject: group.subject, results: memberResults(addresses, creationNodes(answer)) }
  }

  async leave(groupId: string): Promise<void> {
    const content = [{ tag: 'group', attrs: { id: groupJid(groupId) } }]
    const answer = await this.#queries.askAll('leave', { tag: 'leave', attrs: {}, content })
    this.#deps.forget(groupJid(groupId))
    const left = childOf(answer, 'leave')
    const [error] = (left ? childrenOf(left, 'group') : []).flatMap(({ attrs }) => attrs['error'] ?? [])
    if (error !== undefined && error !== '200') throw refusalOf(Number(error), 'leave')
  }

  inviteCode(groupId: string): Promise<string> {
    return this.#invite(groupId, 'admin_read')
  }

  revokeInvite(groupId: string): Promise<string> {
    return this.#invite(groupId, 'change')
  }

  async setPicture(groupId: string, picture: Buffer): Promise<void> {
    const content = { tag: 'picture', attrs: { type: 'image' }, content: await squareJpeg(picture) }
    await this.#queries.setPicture(groupId, content)
  }

  joinRequests(groupId: string): Promise<JoinRequest[]> {
    return askJoinRequests(this.#queries, groupId)
  }

  decideRequests(groupId: string, action: 'approve' | 'reject', addresses: readonly Jid[]): Promise<MemberResult[]> {
    return decideJoinRequests((content) => this.#change(groupId, content), action, addresses)
  }

  async #invite(groupId: string, purpose: 'admin_read' | 'change'): Promise<string> {
    const answer = await this.#queries.ask(groupId, purpose, { tag: 'invite', attrs: {} })
    const code = childOf(answer, 'invite')?.attrs['code']
    if (!code) throw unreadable('invite code')
    return code
  }

  async #describe(groupId: string, topic: string): Promise<void> {
    const prev = topicIdIn(await this.#queries.read(groupId))
    const attrs = {
      id: newId(),
      ...(prev !== undefined && { prev }),
      ...(topic === '' && { delete: 'true' }),
    }
    const body = { tag: 'body', attrs: {}, content: bytesOf(topic) }
    await this.#change(groupId, { tag: 'description', attrs, ...(topic !== '' && { content: [body] }) })
  }

  /** The group is forgotten also after a failure: the change may have been made. */
  async #change(groupId: string, content: BinaryNode): Promise<BinaryNode> {
    try {
      return await this.#queries.ask(groupId, 'change', content)
    } finally {
      this.#deps.forget(groupJid(groupId))
    }
  }
}

/** Names a description or a creation. */
function newId(): string {
  return randomBytes(16).toString('hex').toUpperCase()
}

/** Half of a surrogate pair has no valid encoding. */
function bytesOf(text: string): Buffer {
  return Buffer.from(text.toWellFormed())
}
