// The use cases behind the group endpoints. Every change is written to the audit log.

import { randomUUID } from 'node:crypto'
import { groupJid } from '../../core/address.ts'
import type { AuditRecord, GroupAction } from '../../core/audit.ts'
import { BridgeError } from '../../core/errors.ts'
import { GroupError } from '../../core/group-administration.ts'
import type {
  GroupAdministration,
  GroupDetails,
  GroupSummary,
  JoinRequest,
  MemberAction,
} from '../../core/group-administration.ts'
import type { InstanceName, Jid } from '../../core/ids.ts'
import type { Clock } from '../../lib/clock.ts'
import type { GroupDirectory } from '../people/group-directory.ts'
import type { People } from '../people/people.ts'
import type { GroupInvitations } from './group-invitations.ts'
import { isUncertain, readySession, toCallerError } from './group-session.ts'
import type { GroupAdmin, GroupSessionOf } from './group-session.ts'
import { countOf, toOutcome } from './member-outcomes.ts'
import type { MemberOutcome } from './member-outcomes.ts'
import { nameMembers } from './named-members.ts'
import type { NamedMember } from './named-members.ts'
import { tryOtherSpellings } from './other-spellings.ts'

type Deps = {
  sessionOf: GroupSessionOf
  people: Pick<People, 'lookUpAll'>
  directory: Pick<GroupDirectory, 'forget'>
  invitations: Pick<GroupInvitations, 'invite'>
  audit: (record: AuditRecord) => Promise<void>
  clock: Pick<Clock, 'now'>
}

type Facts = NonNullable<AuditRecord['metadata']>
type Ask<T> = (groups: GroupAdministration) => Promise<T>
/** The details of a group, with what the service knows of its members. */
export type NamedGroup = Omit<GroupDetails, 'members'> & { members: readonly NamedMember[] }
export type NewGroup = { id: string; subject: string; outcomes: MemberOutcome[] }
export type MemberChange = { action: MemberAction; addresses: readonly Jid[]; mayInvite: boolean }

export class GroupService {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  async details(instance: InstanceName, groupId: string): Promise<NamedGroup> {
    const details = await this.#ask(instance, (groups) => groups.details(groupId))
    return { ...details, members: await nameMembers(this.#deps.people, instance, details.members) }
  }

  list(instance: InstanceName): Promise<GroupSummary[]> {
    return this.#ask(instance, (groups) => groups.list())
  }

  rename(who: GroupAdmin, groupId: string, subject: string): Promise<void> {
    return this.#change(who, groupId, 'group.name', (groups) => groups.setSubject(groupId, subject))
  }

  setTopic(who: GroupAdmin, groupId: string, topic: string): Promise<void> {
    const facts = { cleared: topic === '' }
    return this.#change(who, groupId, 'group.topic', (groups) => groups.setTopic(groupId, topic), facts)
  }

  setLocked(who: GroupAdmin, groupId: string, locked: boolean): Promise<void> {
    return this.#change(who, groupId, 'group.locked', (groups) => groups.setLocked(groupId, locked), { locked })
  }

  setAnnounce(who: GroupAdmin, groupId: string, announce: boolean): Promise<void> {
    return this.#change(who, groupId, 'group.announce', (groups) => groups.setAnnounce(groupId, announce), { announce })
  }

  leave(who: GroupAdmin, groupId: string): Promise<void> {
    return this.#change(who, groupId, 'group.leave', (groups) => groups.leave(groupId))
  }

  setPicture(who: GroupAdmin, groupId: string, picture: Buffer): Promise<void> {
    const set: Ask<void> = (groups) => groups.setPicture(groupId, picture).catch(explainPicture)
    return this.#change(who, groupId, 'group.picture', set, { bytes: picture.length })
  }

  inviteCode(instance: InstanceName, groupId: string): Promise<string> {
    return this.#ask(instance, (groups) => groups.inviteCode(groupId))
  }

  /** Resolves with the code of the new link. */
  revokeInvite(who: GroupAdmin, groupId: string): Promise<string> {
    return this.#change(who, groupId, 'group.invite', (groups) => groups.revokeInvite(groupId))
  }

  joinRequests(instance: InstanceName, groupId: string): Promise<JoinRequest[]> {
    return this.#ask(instance, (groups) => groups.joinRequests(groupId))
  }

  decideRequests(
    who: GroupAdmin,
    groupId: string,
    { action, addresses }: { action: 'approve' | 'reject'; addresses: readonly Jid[] },
  ): Promise<MemberOutcome[]> {
    const decide: Ask<MemberOutcome[]> = async (groups) => {
      const change = (some: readonly Jid[]) => groups.decideRequests(groupId, action, some)
      return (await tryOtherSpellings(await change(addresses), change)).map(toOutcome)
    }
    return this.#change(who, groupId, 'group.requests', decide, (outcomes) => ({ action, ...countOf(outcomes) }))
  }

  changeMembers(
    who: GroupAdmin,
    groupId: string,
    { action, addresses, mayInvite }: MemberChange,
  ): Promise<MemberOutcome[]> {
    const { invitations } = this.#deps
    const changeAll: Ask<MemberOutcome[]> = async (groups) => {
      const change = (some: readonly Jid[]) => groups.changeMembers(groupId, action, some)
      const results = await tryOtherSpellings(await change(addresses), change)
      return mayInvite ? invitations.invite({ who, groupId }, results) : results.map(toOutcome)
    }
    return this.#change(who, groupId, 'group.participants', changeAll, (outcomes) => ({ action, ...countOf(outcomes) }))
  }

  create(who: GroupAdmin, subject: string, addresses: readonly Jid[]): Promise<NewGroup> {
    const create: Ask<NewGroup> = async (groups) => {
      const { results: first, ...group } = await groups.create(subject, addresses)
      const results = await tryOtherSpellings(first, (some) => groups.changeMembers(group.id, 'add', some))
      return { ...group, outcomes: results.map(toOutcome) }
    }
    return this.#change(
      who,
      ({ id }) => id,
      'group.create',
      create,
      ({ outcomes }) => countOf(outcomes),
    )
  }

  async #ask<T>(instance: InstanceName, ask: Ask<T>): Promise<T> {
    const { groups } = readySession(this.#deps.sessionOf, instance)
    return ask(groups).catch((error: unknown) => {
      throw toCallerError(error)
    })
  }

  /** `groupId` is a function where the network gives the group its id. */
  async #change<T>(
    who: GroupAdmin,
    groupId: string | ((result: T) => string),
    action: GroupAction,
    ask: Ask<T>,
    facts: Facts | ((result: T) => Facts) = {},
  ): Promise<T> {
    const { groups } = readySession(this.#deps.sessionOf, who.instance)
    const known = typeof groupId === 'string' ? groupId : undefined
    const result = await ask(groups).catch(async (error: unknown) => {
      if (known !== undefined) this.#deps.directory.forget(who.instance, known)
      if (isUncertain(error)) await this.#record(who, action, known, { unconfirmed: true })
      throw toCallerError(error)
    })
    const changed = typeof groupId === 'string' ? groupId : groupId(result)
    this.#deps.directory.forget(who.instance, changed)
    await this.#record(who, action, changed, typeof facts === 'function' ? facts(result) : facts)
    return result
  }

  async #record(
    { instance, ownerTag, actor }: GroupAdmin,
    action: GroupAction,
    groupId: string | undefined,
    metadata: Facts,
  ): Promise<void> {
    const { audit, clock } = this.#deps
    const target = groupId === undefined ? '' : groupJid(groupId)
    const entry = { at: clock.now(), actor, action, instance, ownerTag, target, metadata } as const
    await audit({ ...entry, key: randomUUID() }).catch((cause: unknown) => {
      const sentence = 'the group may have been changed, and the audit log could not be written: look at the group'
      throw new BridgeError('SERVICE_STORAGE_FAILED', sentence, { cause })
    })
  }
}

/** The network room refuses without a code what is no picture. */
function explainPicture(error: unknown): never {
  const isUnreadable = error instanceof GroupError && error.failure === 'refused' && error.code === null
  throw isUnreadable ? new BridgeError('SERVICE_BAD_REQUEST', error.message, { cause: error }) : error
}
