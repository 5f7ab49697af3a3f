// The part of the network port that manages groups.

import type { Person } from './address.ts'
import type { Destination } from './downstream.ts'
import type { InstanceName, Jid } from './ids.ts'

export type GroupMember = Person & {
  name: string | null
  redactedPhone: string | null
  role: 'member' | 'admin' | 'superadmin'
}

export type GroupDetails = {
  id: string
  subject: string
  /** The description of the group; empty when it has none. */
  topic: string
  owner: Person | null
  /** Epoch milliseconds. */
  createdAt: number | null
  /** Only administrators may change the subject, the description and the picture. */
  isLocked: boolean
  /** Only administrators may write. */
  isAnnounce: boolean
  isEphemeral: boolean
  members: readonly GroupMember[]
}

export type GroupSummary = { id: string; subject: string; size: number; role: GroupMember['role'] }

export type MemberAction = 'add' | 'remove' | 'promote' | 'demote'

/** An agent asked for the members in the conversation of a group. `noteId` is the message with the question. */
export type MembersQuestion = {
  instance: InstanceName
  groupId: string
  destination: Destination
  conversationId: number
  noteId: number
}

/** With this code the person gets into the group. It works for this person and until `expiresAt` (epoch milliseconds). */
export type GroupInvitation = { code: string; expiresAt: number }

/**
 * `address` is the one that the caller gave. `code` is the network's own code of a refusal; null when the change was made;
 * `unanswered` when the network did not say what became of the person.
 */
export type MemberResult = { address: Jid; code: string | null; invitation: GroupInvitation | null }

export type CreatedGroup = { id: string; subject: string; results: readonly MemberResult[] }

/** `requestedAt` is in epoch milliseconds. */
export type JoinRequest = { person: Person; requestedAt: number | null }

/**
 * not_found  the network knows no such group, or the account is not a member
 * refused    the network refuses the change, for example because the account is not an administrator
 * failed     the network did not answer, or not in a way that we understand; the change may have been made
 */
export type GroupFailure = 'not_found' | 'refused' | 'failed'

/** The message says why, in words for an operator. */
export class GroupError extends Error {
  readonly failure: GroupFailure
  /** The network's own code. */
  readonly code: number | null

  constructor(failure: GroupFailure, reason: string, options: { code?: number | null; cause?: unknown } = {}) {
    super(reason, { cause: options.cause })
    this.name = 'GroupError'
    this.failure = failure
    this.code = options.code ?? null
  }
}

/** Every call has a deadline and rejects with a GroupError. */
export type GroupAdministration = {
  details(groupId: string): Promise<GroupDetails>
  /** The groups of which the account is a member. */
  list(): Promise<GroupSummary[]>
  setSubject(groupId: string, subject: string): Promise<void>
  /** An empty topic removes the description. */
  setTopic(groupId: string, topic: string): Promise<void>
  setLocked(groupId: string, isLocked: boolean): Promise<void>
  setAnnounce(groupId: string, isAnnounce: boolean): Promise<void>
  /** The results are in the order of the addresses. */
  changeMembers(groupId: string, action: MemberAction, addresses: readonly Jid[]): Promise<MemberResult[]>
  create(subject: string, addresses: readonly Jid[]): Promise<CreatedGroup>
  leave(groupId: string): Promise<void>
  /** The code at the end of the invite link. */
  inviteCode(groupId: string): Promise<string>
  /** The old link stops working. Resolves with the new code. */
  revokeInvite(groupId: string): Promise<string>
  /**
   * Takes any picture and makes the square JPEG that the network takes. Bytes that are no picture are `refused` without a
   * code.
   */
  setPicture(groupId: string, picture: Buffer): Promise<void>
  joinRequests(groupId: string): Promise<JoinRequest[]>
  decideRequests(groupId: string, action: 'approve' | 'reject', addresses: readonly Jid[]): Promise<MemberResult[]>
}
